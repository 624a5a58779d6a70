"""A program's calling convention as JSON."""

from __future__ import annotations

import inspect
import json
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import starmap
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.artefact.classes import (
    CLASSES,
    are_there,
    classes_of,
    has_name,
    name_classes,
    stand_in_for,
)
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.errors import ArtefactError
from torch2mlir.frontends import dtypes
from torch2mlir.program import (
    ArgumentOutput,
    Check,
    ConstantInput,
    ConstantOutput,
    Decision,
    Flag,
    FunctionInput,
    Layout,
    Mutation,
    Output,
    Precondition,
    SeedInput,
    Signature,
    SizeInput,
    StateInput,
    UserInput,
    UserOutput,
)
from torch2mlir.runtime.lowered import TensorSpec

_KINDS = {"user": UserInput, "state": StateInput, "seed": SeedInput}
_CONSTANTS = (type(None), bool, int, float, str)
_UNKNOWN = object()
"""A default that an artefact does not hold."""


def dtype_name(dtype: torch.dtype) -> str:
    """``float32`` for ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str) -> torch.dtype:
    """The dtype of a name.

    Raises:
        ArtefactError: PyTorch has none of this name.
    """
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise ArtefactError(f"the artefact has tensors of dtype '{name}', which PyTorch does not")
    return found


def dump_spec(spec: TensorSpec) -> dict[str, Any]:
    """The type of one argument or result of compiled code."""
    return {"dtype": dtype_name(spec.dtype), "shape": list(spec.shape)}


def load_spec(data: Mapping[str, Any]) -> TensorSpec:
    """The inverse of :func:`dump_spec`."""
    return TensorSpec(dtype_of(data["dtype"]), tuple(data["shape"]))


def dump_input(item: FunctionInput) -> dict[str, Any]:
    """One function argument."""
    match item:
        case UserInput():
            return {
                "kind": "user", "name": item.name, "position": item.position,
                "type": _dump_type(item.type),
            }  # fmt: skip
        case StateInput():
            return {"kind": "state", "name": item.name, "type": _dump_type(item.type)}
        case SeedInput():
            return {"kind": "seed", "type": _dump_type(item.type)}
        case SizeInput():
            raise ArtefactError(
                "a function with buckets cannot be saved: who loads it does not know how to pad",
                hint="compile it without buckets, and call compile_like for each combination of sizes",
            )


def load_input(data: Mapping[str, Any], state: Mapping[str, torch.Tensor]) -> FunctionInput:
    """The inverse of :func:`dump_input`; ``state`` has the tensors the runtime passes."""
    type = _load_type(data["type"])
    match data["kind"]:
        case "user":
            return UserInput(data["name"], data["position"], type)
        case "state":
            return StateInput(data["name"], state.get(data["name"]), type)
        case "seed" if type is not None:
            return SeedInput(type)
    raise ArtefactError(f"the artefact has an argument of unknown kind '{data['kind']}'")


def dump_signature(signature: Signature) -> dict[str, Any]:
    """A calling convention.

    Raises:
        ArtefactError: an argument that was fixed at capture is no number, text or None.
    """
    return {
        "inputs": [dump_input(item) for item in signature.inputs],
        "constants": [
            {"name": c.name, "position": c.position, "value": _constant(c.value, c.name)}
            for c in signature.constants
        ],
        "mutations": [{"name": m.name, "position": m.position} for m in signature.mutations],
        "outputs": list(map(_dump_output, signature.outputs)),
        "in_spec": _dump_structure(signature.in_spec, is_result=False),
        "out_spec": _dump_structure(signature.out_spec, is_result=True),
        "ranges": {name: list(bounds) for name, bounds in signature.ranges.items()},
        "size_names": dict(signature.size_names),
        "decisions": [
            [d.asked, d.answer, d.symbols, d.location, d.of_model] for d in signature.decisions
        ],
        "checks": [[check.message, check.location] for check in signature.checks],
        "preconditions": list(map(asdict, signature.preconditions)),
        "layouts": [
            [
                position,
                list(map(_dump_size, layout.strides)),
                layout.offset,
                layout.is_written,
                layout.is_asked,
            ]
            for position, layout in signature.layouts.items()
        ],
        "flags": list(map(list, signature.flags)),
        "arrangements": sorted(signature.arrangements),
        "parameters": _dump_parameters(signature.parameters),
    }


def _dump_parameters(parameters: inspect.Signature | None) -> list[dict[str, Any]] | None:
    """The model's own; a default that is no number, text or None is one that no caller gives."""
    if parameters is None:
        return None
    empty, dumped = inspect.Parameter.empty, list[dict[str, Any]]()
    for name, each in parameters.parameters.items():
        known = {"default": each.default} if isinstance(each.default, _CONSTANTS) else {}
        dumped.append({"name": name, "kind": each.kind.name, "optional": each.default is not empty})
        dumped[-1].update(known)
    return dumped


def _load_parameters(data: Sequence[Mapping[str, Any]] | None) -> inspect.Signature | None:
    if data is None:
        return None
    return inspect.Signature(
        [
            inspect.Parameter(
                each["name"],
                inspect._ParameterKind[each["kind"]],
                default=each.get("default", _UNKNOWN)
                if each["optional"]
                else inspect.Parameter.empty,
            )
            for each in data
        ]
    )


def _dump_output(output: Output) -> dict[str, Any]:
    if isinstance(output, ConstantOutput):
        return {"constant": _constant(output.value, "a result")}
    if isinstance(output, ArgumentOutput):
        return {"argument": output.position}
    return {"type": _dump_type(output.type)}


def _load_output(data: Mapping[str, Any]) -> Output:
    if "constant" in data:
        return ConstantOutput(data["constant"])
    return (
        ArgumentOutput(data["argument"])
        if "argument" in data
        else UserOutput(_load_type(data["type"]))
    )


def load_signature(data: Mapping[str, Any], state: Mapping[str, torch.Tensor]) -> Signature:
    """The inverse of :func:`dump_signature`.

    Raises:
        ArtefactError: it cannot be read.
    """
    try:
        return Signature(
            [load_input(item, state) for item in data["inputs"]],
            [ConstantInput(c["name"], c["position"], c["value"]) for c in data["constants"]],
            [Mutation(m["name"], m["position"]) for m in data["mutations"]],
            list(map(_load_output, data["outputs"])),
            _load_structure(data["in_spec"], is_result=False),
            _load_structure(data["out_spec"], is_result=True),
            {name: (low, high) for name, (low, high) in data["ranges"].items()},
            size_names=data["size_names"],
            decisions=[
                Decision(asked, answer, tuple(symbols), location, of_model)
                for asked, answer, symbols, location, of_model in data["decisions"]
            ],
            checks=[Check(message, location) for message, location in data.get("checks", ())],
            preconditions=[Precondition(**each) for each in data.get("preconditions", ())],
            layouts={
                position: Layout(list(map(_load_known, strides)), offset, *why)
                for position, strides, offset, *why in data["layouts"]
            },
            flags=list(starmap(Flag, data.get("flags", ()))),
            arrangements=frozenset(data.get("arrangements", ())),
            parameters=_load_parameters(data.get("parameters")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ArtefactError(
            f"the signature of the artefact cannot be read: {type(error).__name__}: {error}"
        ) from error


def _constant(value: Any, what: str) -> Any:
    if isinstance(value, _CONSTANTS):
        return value
    raise ArtefactError(
        f"{what} was fixed to a {type(value).__name__} at capture, which an artefact cannot hold",
        hint="make it a tensor, a number or a text",
    )


def _dump_type(type: t.ValueTensorType | None) -> dict[str, Any] | None:
    if type is None:
        return None
    dtype = None if type.dtype is None else dtype_name(dtypes.FROM_ELEMENT_TYPE[type.dtype])
    sizes = None if type.sizes is None else [_dump_size(size) for size in type.sizes]
    return {"dtype": dtype, "sizes": sizes}


def _load_type(data: Mapping[str, Any] | None) -> t.ValueTensorType | None:
    if data is None:
        return None
    dtype = None if data["dtype"] is None else dtypes.element_type(dtype_of(data["dtype"]))
    sizes = None if data["sizes"] is None else tuple(_load_size(size) for size in data["sizes"])
    return t.vtensor(sizes, dtype)


def _dump_size(size: KnownSize | None) -> Any:
    if isinstance(size, Dim):
        return [size.op, *(a if isinstance(a, str) else _dump_size(a) for a in size.args)]
    return size


def _load_size(data: Any) -> KnownSize | None:
    if isinstance(data, list):
        op, *args = data
        return Dim(op, tuple(a if isinstance(a, str | int) else _load_known(a) for a in args))
    return data


def _load_known(data: Any) -> int | Dim:
    size = _load_size(data)
    if size is None:
        raise ValueError("a size of nothing")
    return size


# structures


def _dump_structure(spec: Any, is_result: bool) -> dict[str, Any] | None:
    """A pytree as PyTorch writes it, and without classes that other processes may not have.

    A named tuple of arguments is a tuple: any of as many parts may be given.
    """
    if spec is None:
        return None
    if is_result:
        name_classes(spec)
    plain = pytree.treespec_dumps(_plain(spec))
    exact = _plain(spec, lambda each: has_name(each) and (is_result or each.type is not namedtuple))
    classes = classes_of([exact])
    try:
        return {"exact": pytree.treespec_dumps(exact), "plain": plain, CLASSES: classes}
    except (NotImplementedError, TypeError, ValueError):
        return {"exact": plain, "plain": plain}


def _load_structure(data: Mapping[str, Any] | None, is_result: bool) -> Any:
    """A pytree; classes that this process does not know are dicts, or tuples where their parts have no names."""
    if data is None:
        return None
    classes = data.get(CLASSES, ())
    if is_result:
        stand_in_for(classes)
    elif not are_there(classes):
        return pytree.treespec_loads(data["plain"])
    try:
        return pytree.treespec_loads(data["exact"])
    except (NotImplementedError, KeyError, ValueError):
        return pytree.treespec_loads(data["plain"])


_PLAIN = (tuple, list, dict)


def _plain(spec: Any, keeps: Callable[[Any], bool] = lambda _: False) -> Any:
    """A structure of tuples, lists and dicts, and of what else is kept."""
    if spec.is_leaf():
        return spec
    children = [_plain(child, keeps) for child in spec.children()]
    if spec.type in _PLAIN or keeps(spec):
        return pytree.TreeSpec(spec.type, spec.context, children)
    names = _names(spec)
    if names is not None:
        return pytree.TreeSpec(dict, names, children)
    return pytree.TreeSpec(tuple, None, children)


def _names(spec: Any) -> list[str] | None:
    """The names of the parts of a mapping; a named tuple is a tuple to those who do not know its class."""
    context = spec.context
    if not isinstance(context, list | tuple) or len(context) != len(spec.children()):
        return None
    return list(context) if all(isinstance(name, str) for name in context) else None


def canonical(data: Any) -> str:
    """JSON in one spelling."""
    return json.dumps(data, indent=1, sort_keys=True)
