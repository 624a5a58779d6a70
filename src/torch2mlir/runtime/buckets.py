"""Sizes rounded up to a few values each: one program a bucket, for engines that compile for given sizes.

Arguments are padded with zeros at the end of each dimension whose size is rounded up, results are cut to their real
sizes. That the padding does not reach them is shown from the program when it is compiled (``torch-mask-padding``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import torch

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim, Size
from torch2mlir.errors import BackendContractError, InputError
from torch2mlir.program import Program, Signature, SizeInput, UserInput, UserOutput, entry_function
from torch2mlir.runtime.binding import Shapes
from torch2mlir.runtime.engine import Engine
from torch2mlir.runtime.small_sizes import AnotherProgram, SizeCheck
from torch2mlir.transforms.mask_padding import mask_padding
from torch2mlir.transforms.padding.masks import EXTENT_TYPE

Asked = bool | Mapping[str, Sequence[int]]
"""Buckets as a user asks for them: sizes by name, or powers of two for all that vary."""


_REMEMBERED = 4096
"""Of how many combinations of sizes it is remembered what they are rounded to."""


class BucketRequest:
    """What a user asks for, resolved for the programs of one model.

    Args:
        asked: True for powers of two, or for each of the sizes that are to be rounded up the values it may take.

    Raises:
        InputError: a value is no size.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._places: dict[tuple[int, int], Sequence[int] | None] | None = None
        if not isinstance(asked, bool | Mapping):
            raise InputError(
                f"buckets are True or sizes by name, not a {type(asked).__name__}",
                hint='say which size: buckets={"batch": [1, 4, 8]}',
            )
        for name, sizes in {} if isinstance(asked, bool) else asked.items():
            if not sizes or any(not isinstance(size, int) or size < 1 for size in sizes):
                raise InputError(
                    f"the buckets of '{name}' should be sizes of 1 and more, got {sizes!r}"
                )

    def check_engine(self, engine: Engine) -> None:
        """Refuses an engine that takes varying sizes as they are."""
        if not engine.needs_static_shapes:
            raise InputError(
                f"engine {engine.name!r} takes varying sizes as they are, and has no use for buckets",
                hint='leave out buckets, or use engine="xla"',
            )

    def of(self, program: Program) -> Buckets:
        """The buckets of a program at the contract, which is changed so that they do not matter.

        Raises:
            InputError: no size varies, or none has the name.
            BackendContractError: an op is not known to keep padding apart.
        """
        symbols = dict[str, Sequence[int] | None]()
        axes = _axes(program.signature)
        if self._places is None:
            symbols = self._by_name(program.signature)
            self._places = {axes[name]: sizes for name, sizes in symbols.items() if name in axes}
        else:  # of another program of the model, whose sizes have other names
            known = self._places
            symbols = {name: known[place] for name, place in axes.items() if place in known}
        return Buckets(program, symbols)

    def _by_name(self, signature: Signature) -> dict[str, Sequence[int] | None]:
        if not signature.ranges:
            raise InputError(
                "buckets are for sizes that vary, and none does",
                hint="say which do: dynamic_shapes=({0: torch.export.Dim('batch', max=8)},)",
            )
        if isinstance(self._asked, bool):
            return dict.fromkeys(signature.ranges)
        names = {signature.size_names.get(symbol, symbol): symbol for symbol in signature.ranges}
        for name in self._asked:
            if name not in names:
                raise InputError(
                    f"buckets for '{name}', and no size has that name",
                    hint=f"sizes that vary: {', '.join(sorted(names))}",
                )
        return {names[name]: sorted(set(sizes)) for name, sizes in self._asked.items()}


def _axes(signature: Signature) -> dict[str, tuple[int, int]]:
    """Where the sizes that vary are: an argument and a dimension of it."""
    found = dict[str, tuple[int, int]]()
    for item in signature.user_inputs:
        for axis, size in enumerate((item.type.sizes if item.type else None) or ()):
            if isinstance(size, Dim) and size.op == "symbol":
                found.setdefault(size.name, (item.position, axis))
    return found


class Buckets:
    """The rounding of one program's calls.

    Args:
        program: at the contract; masks are inserted where padding would be computed with.
        sizes: the values that symbols are rounded up to, sorted; None for powers of two.

    Raises:
        BackendContractError: an op is not known to keep padding apart.
    """

    def __init__(self, program: Program, sizes: Mapping[str, Sequence[int] | None]) -> None:
        signature = program.signature
        self._sizes = sizes
        self._ranges = signature.ranges
        self._rounded = dict[Shapes, Shapes]()
        _check_arguments(signature, sizes)
        extents = mask_padding(entry_function(program.module, program.func_name), sizes)
        self._extents: Sequence[Dim] = extents
        signature.inputs += [
            SizeInput(str(size), place - len(extents), EXTENT_TYPE)
            for place, size in enumerate(extents)
        ]
        self._given = [
            (item.position, tuple(item.type.sizes or ()))
            for item in signature.user_inputs
            if item.type is not None and self._varies(item.type.sizes or ())
        ]
        outputs = [output for output in signature.outputs if isinstance(output, UserOutput)]
        types = [None] * len(signature.mutations) + [output.type for output in outputs]
        self._cuts = [
            (place, tuple(type.sizes or ()))
            for place, type in enumerate(types)
            if type is not None and self._varies(type.sizes or ())
        ]

    def _varies(self, sizes: Sequence[object]) -> bool:
        return any(
            isinstance(size, Dim) and not self._sizes.keys().isdisjoint(size.symbols())
            for size in sizes
        )

    def rounded(self, symbols: Shapes, check: SizeCheck) -> Shapes:
        """The sizes that a call of these sizes runs with: as they are where one is 0, or the program is another one."""
        found = self._rounded.get(symbols)
        if found is None:
            if len(self._rounded) >= _REMEMBERED:
                self._rounded.clear()
            self._rounded[symbols] = found = self._round(symbols, check)
        return found

    def _round(self, symbols: Shapes, check: SizeCheck) -> Shapes:
        if any(size == 0 for _, size in symbols):
            return symbols
        rounded = tuple((name, self._bucket(name, size)) for name, size in symbols)
        try:
            check.check(dict(rounded), lambda name: f"the size {name}")
        except AnotherProgram:
            return symbols
        return rounded

    def _bucket(self, name: str, size: int) -> int:
        """The smallest that holds a size; a program for 1 is one for 1 alone, for dimensions of 1 are broadcast."""
        if name not in self._sizes or size < 2:
            return size
        sizes = self._sizes[name]
        most = self._ranges[name][1]
        if sizes is None:
            return min(1 << (size - 1).bit_length(), most)
        place = bisect_left(sizes, size)
        return size if place == len(sizes) else max(size, min(sizes[place], most))

    def padded(self, leaves: Sequence[object], real: Shapes, rounded: Shapes) -> list[object]:
        """The arguments of a call in the rounded sizes, and behind them the real sizes that the program asks for."""
        values, wanted = list(leaves), dict(rounded)
        if real != rounded:
            for position, sizes in self._given:
                values[position] = _padded(leaves[position], _numbers(sizes, wanted))  # type: ignore[arg-type]
        known = dict(real)
        return [*values, *(torch.tensor(dims.substitute(e, known)) for e in self._extents)]

    def cut(self, results: list[torch.Tensor], real: Shapes, rounded: Shapes) -> list[torch.Tensor]:
        """A function's results in the real sizes."""
        if real == rounded:
            return results
        found, known = list(results), dict(real)
        for place, sizes in self._cuts:
            value = found[place]
            for axis, size in enumerate(_numbers(sizes, known)):
                value = value.narrow(axis, 0, size)
            found[place] = value.contiguous()
        return found


def _check_arguments(signature: Signature, sizes: Mapping[str, object]) -> None:
    """Refuses what padding an argument would change beside its size."""

    def varies(item: UserInput) -> bool:
        known = (item.type.sizes if item.type else None) or ()
        return any(isinstance(s, Dim) and not sizes.keys().isdisjoint(s.symbols()) for s in known)

    written = {mutation.position for mutation in signature.mutations}
    for item in signature.user_inputs:
        if varies(item) and (item.position in written or item.position in signature.layouts):
            what = "is written to" if item.position in written else "is read by its strides"
            raise BackendContractError(
                f"sizes cannot be rounded up: the input '{item.name}' {what}",
                hint="leave its sizes out of buckets",
            )


def _numbers(sizes: Sequence[Size], symbols: Mapping[str, int]) -> list[int]:
    found = [None if size is None else dims.substitute(size, symbols) for size in sizes]
    return [
        size for size in found if isinstance(size, int)
    ]  # all are: the program is known for them


def _padded(value: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """A tensor with zeros behind its elements."""
    with torch.no_grad():
        found = value.new_zeros(sizes)
        found[tuple(slice(size) for size in value.shape)] = value
    return found
