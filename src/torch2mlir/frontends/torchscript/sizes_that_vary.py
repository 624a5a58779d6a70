"""``dynamic_shapes`` of ``torch.export``, said of the arguments of a TorchScript program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch.export import Dim

from torch2mlir.dialects.torch.dims import INT64_MAX
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.torchscript.example_args import Example, ExampleArgs, TensorPlaceholder

_HINT = type(Dim.AUTO)


def positional(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """All arguments of a call by position.

    Raises:
        CaptureError: one has another name, or an argument between them is left out.
    """
    rest = list(names[len(args) : len(args) + len(kwargs)])
    if unknown := sorted(set(kwargs) - set(rest)):
        raise CaptureError(
            f"a TorchScript program is compiled for positional arguments, and '{unknown[0]}' does not follow the "
            f"{len(args)} given",
            hint=f"its arguments are, in order: {', '.join(names)}",
        )
    return [*args, *(kwargs[name] for name in rest)]


def varying(
    args: Sequence[Any], names: Sequence[str], dynamic_shapes: Any, compared: bool = False
) -> ExampleArgs:
    """Example arguments of which some sizes vary.

    Args:
        args: of a call; those that are no tensors have no sizes.
        names: of the arguments.
        dynamic_shapes: by name or position, of each argument None or, by dimension, what ``torch.export`` takes: a
            ``Dim``, ``Dim.AUTO``, ``Dim.DYNAMIC``, ``Dim.STATIC``, a number or None. What is AUTO varies.
        compared: whether sizes without a name that are equal now are equal in every call.

    Raises:
        CaptureError: it is for other arguments, or says what a TorchScript program cannot be captured for.
    """
    sizes, given = _Sizes(compared), list[Example]()
    entries = _by_position(names[: len(args)], dynamic_shapes)
    for value, name, entry in zip(args, names, entries, strict=False):
        if entry is None:
            given.append(value)
        elif isinstance(value, torch.Tensor) and isinstance(entry, Mapping | list | tuple):
            shape: list[int | str] = list(value.shape)
            for axis, said in _by_axis(entry, value.dim(), name):
                shape[axis] = sizes.of(said, name, axis, value.shape[axis])
            given.append(TensorPlaceholder(shape, value.dtype))
        else:
            raise CaptureError(
                f"dynamic_shapes says {entry!r} of the argument '{name}', a {type(value).__name__}",
                hint="say which dimensions of a tensor vary: {0: torch.export.Dim.AUTO}",
            )
    examples = ExampleArgs(sizes.ranges, sizes.examples)
    return examples.add_method("forward", given)


class _Sizes:
    """The names of sizes that vary, with the ranges they are in."""

    def __init__(self, compared: bool) -> None:
        self.ranges: dict[str, tuple[int, int]] = {}
        self._compared = compared
        self.examples: dict[str, int] = {}
        self._nameless: dict[int, str] = {}

    def of(self, said: Any, name: str, axis: int, size: int) -> int | str:
        """A size as a placeholder has it: a number, or the name of one that varies."""
        place = f"'{name}' in dimension {axis}"
        if said is None or (isinstance(said, _HINT) and said.type is Dim.STATIC.type):
            return size
        if isinstance(said, int) and said == size:
            return size
        if isinstance(said, int):
            _refuse_example(f"{place} is {size}, and dynamic_shapes says {said}")
        if isinstance(said, _HINT):
            label = f"{name}_{axis}"
            if self._compared:
                label = self._nameless.setdefault(size, label)
        elif isinstance(said, Dim) and not hasattr(said, "root"):
            label = str(said.__name__)
        else:
            raise CaptureError(
                f"dynamic_shapes says {said!r} of {place}: sizes of a TorchScript program are no expressions of others",
                hint="give it a torch.export.Dim of its own, or capture the model before it was scripted",
            )
        low, high = _range(said)
        if not low <= size <= high:
            _refuse_example(f"{place} is {size}, and '{label}' from {low} to {high}")
        if (other := self.examples.setdefault(label, size)) != size:
            _refuse_example(f"{place} is {size}, and '{label}' is {other} elsewhere")
        before = self.ranges.get(label, (low, high))
        self.ranges[label] = (max(low, before[0]), min(high, before[1]))
        return label


def _refuse_example(what: str) -> NoReturn:
    raise CaptureError(
        f"the size of {what}", hint="give arguments that are an example of the calls to come"
    )


def _range(said: Any) -> tuple[int, int]:
    """The least and the largest size that are asked for."""
    return said.min or 0, said.max if isinstance(said.max, int) else INT64_MAX


def _by_position(names: Sequence[str], dynamic_shapes: Any) -> Iterable[Any]:
    if isinstance(dynamic_shapes, Mapping):
        if unknown := [name for name in dynamic_shapes if name not in names]:
            raise CaptureError(
                f"dynamic_shapes names '{unknown[0]}', which is none of the arguments given",
                hint=f"they are: {', '.join(names)}",
            )
        return [dynamic_shapes.get(name) for name in names]
    if not isinstance(dynamic_shapes, list | tuple) or len(dynamic_shapes) != len(names):
        raise CaptureError(
            f"dynamic_shapes of a TorchScript program has an entry for each of its {len(names)} arguments",
            hint="a tuple in their order, or a dict by their names: " + ", ".join(names),
        )
    return dynamic_shapes


def _by_axis(entry: Any, rank: int, name: str) -> Iterable[tuple[int, Any]]:
    pairs = list(entry.items() if isinstance(entry, Mapping) else enumerate(entry))
    for axis, _ in pairs:
        if not isinstance(axis, int) or not -rank <= axis < rank:
            raise CaptureError(
                f"dynamic_shapes names the dimension {axis!r} of '{name}', which has {rank}"
            )
    return [(axis % rank, said) for axis, said in pairs]
