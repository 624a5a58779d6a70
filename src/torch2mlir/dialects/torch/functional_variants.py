"""The functional form of ops that write their operands: in-place ops, ``out=`` variants, running statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.torch.schema import Argument, Schema, find_schema, op_names

_NAMED_OTHERWISE = {
    "torch.aten.bernoulli_.float": "torch.aten.bernoulli.p",
    "torch.aten.normal_": "torch.aten.normal_functional",
    "torch.aten.ldexp_": "torch.aten.ldexp.Tensor",
    **{
        f"torch.aten.{name}_.{other}": f"torch.aten.{name}.Tensor_{other}"
        for name in ("pow", "float_power")
        for other in ("Scalar", "Tensor")
    },
    "torch.aten.floor_divide_.Tensor": "torch.aten.floor_divide",
    **{
        f"torch.aten.__i{name}__.{overload}": f"torch.aten.__{name}__.{overload}"
        for name in ("and", "or", "xor", "lshift", "rshift")
        for overload in ("Scalar", "Tensor")
    },
}


SHAPE_CHANGES = {
    f"torch.aten.{written}": f"torch.aten.{view}"
    for written, view in {
        "squeeze_": "squeeze",
        "squeeze_.dim": "squeeze.dim",
        "squeeze_.dims": "squeeze.dims",
        "unsqueeze_": "unsqueeze",
        "t_": "t",
        "transpose_": "transpose.int",
        "swapaxes_": "swapaxes",
        "swapdims_": "swapdims",
        "as_strided_": "as_strided",
        "detach_": "detach",
    }.items()
}
"""Ops that write no element but change what their operand is a view of, and the views."""

_NOT_OF_ELEMENTS = {f"torch.aten.{name}" for name in ("resize_", "resize_as_", "resize_as_sparse_")}
"""Ops that give a tensor other memory."""


@dataclass(frozen=True)
class Variant:
    """A functional op and how it stands for one that writes.

    Args:
        name: the functional op.
        operands: the operands of the writing op that it takes, by position, in its own order.
        written: for each operand that is written, its position and the functional op's result that it gets.
        returned: for each result of the writing op, the operand it is, or None; and the functional op's result.
    """

    name: str
    operands: tuple[int, ...]
    written: tuple[tuple[int, int], ...]
    returned: tuple[tuple[int | None, int], ...]


@lru_cache(maxsize=1)
def _overloads() -> dict[str, list[str]]:
    """Op name without overload -> the names with it."""
    found = defaultdict[str, list[str]](list)
    for name in op_names():
        found[OpName(name).packet].append(name)
    return found


def _same(arguments: Sequence[Argument], others: Sequence[Argument]) -> bool:
    return [(a.name, a.type) for a in arguments] == [(a.name, a.type) for a in others]


def _functional(name: str, schema: Schema) -> str | None:
    """The name of the functional op, or None."""
    if name in _NAMED_OTHERWISE:
        return _NAMED_OTHERWISE[name]
    namespace, base, *overload = name.split(".")[1:]
    if base.endswith("_") and not base.startswith("__"):
        return ".".join(["torch", namespace, base.removesuffix("_"), *overload])
    kept = [argument for argument in schema.arguments if not argument.is_written]
    for other in _overloads()[f"torch.{namespace}.{base}"]:
        found = find_schema(other)
        if found and not found.is_mutating and _same(found.arguments, kept):
            return other
    return ".".join(["torch", namespace, f"{base}_functional", *overload])


_WITH_STATISTICS = {
    "torch.aten.batch_norm": Variant(
        "torch.aten._native_batch_norm_legit_functional",
        operands=tuple(range(8)),
        written=((3, 3), (4, 4)),
        returned=((None, 0),),
    ),
    "torch.aten.native_batch_norm": Variant(
        "torch.aten._native_batch_norm_legit_functional",
        operands=tuple(range(8)),
        written=((3, 3), (4, 4)),
        returned=((None, 0), (None, 1), (None, 2)),
    ),
}
"""Ops that write running statistics in training, although their schema does not say so."""


@cache
def functional_variant(name: str) -> Variant | None:
    """How an op that writes tensors is said without writing, or None if PyTorch has no such op."""
    if name in _WITH_STATISTICS:
        return _WITH_STATISTICS[name]
    schema = find_schema(name)
    if schema is None or not schema.is_mutating or name in _NOT_OF_ELEMENTS | SHAPE_CHANGES.keys():
        return None
    places = [i for i, a in enumerate(schema.arguments) if a.is_written]
    if any(schema.arguments[i].type not in ("Tensor", "Tensor?") for i in places):
        return None
    functional = _functional(name, schema)
    found = find_schema(functional) if functional else None
    if found is None or found.is_mutating:
        return None
    given = len(found.arguments) == len(schema.arguments)
    operands = tuple(i for i in range(len(schema.arguments)) if given or i not in places)
    if len(operands) != len(found.arguments):
        return None
    named = {schema.arguments[i].name: i for i in operands}
    if named.keys() == {argument.name for argument in found.arguments}:
        operands = tuple(named[argument.name] for argument in found.arguments)
    place_of = {schema.arguments[i].alias: i for i in places}
    fresh = [r for r in schema.returns if r.alias not in place_of]
    if len(found.returns) != len(fresh) + len(places):
        return None
    written = tuple((place, len(fresh) + index) for index, place in enumerate(places))
    result_of, returned, count = dict(written), list[tuple[int | None, int]](), 0
    for result in schema.returns:
        if (place := place_of.get(result.alias)) is not None:
            returned.append((place, result_of[place]))
        else:
            returned.append((None, count))
            count += 1
    return Variant(functional or "", operands, written, tuple(returned))
