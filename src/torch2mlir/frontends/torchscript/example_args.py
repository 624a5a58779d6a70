"""What is promised of the arguments of the methods of a TorchScript program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import torch
from xdsl.ir import Attribute

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.types import vtensor
from torch2mlir.errors import CaptureError
from torch2mlir.frontends import dtypes

_TRACED_SIZE = 7
"""The size of a dynamic dimension in the tensors that a program is traced with."""


class TensorPlaceholder:
    """A tensor argument of some shape and dtype.

    Args:
        shape: sizes; -1 for one that is only known when the program runs. A name in place of -1 says that dimensions
            of this name have equal sizes.
        dtype: of the elements.
    """

    def __init__(self, shape: Sequence[int | str], dtype: torch.dtype) -> None:
        self.shape = list(shape)
        self.dtype = dtype

    @staticmethod
    def like(tensor: torch.Tensor, dynamic_axes: Sequence[int] | None = None) -> TensorPlaceholder:
        """The placeholder of tensors like this one, of any size in some dimensions."""
        dynamic = {axis % tensor.dim() for axis in dynamic_axes or ()}
        shape = [-1 if axis in dynamic else size for axis, size in enumerate(tensor.shape)]
        return TensorPlaceholder(shape, tensor.dtype)

    def tensor(self) -> torch.Tensor:
        """Some tensor that fits."""
        sizes = [s if isinstance(s, int) and s >= 0 else _TRACED_SIZE for s in self.shape]
        return torch.ones(sizes, dtype=self.dtype)

    def type(self, fresh: Iterator[int]) -> Attribute:
        """The type of such tensors; ``fresh`` numbers the sizes that have no name."""
        sizes = [
            s
            if isinstance(s, int) and s >= 0
            else dims.symbol(s if isinstance(s, str) else f"s{next(fresh)}")
            for s in self.shape
        ]
        return vtensor(tuple(sizes), dtypes.element_type(self.dtype))


Example = torch.Tensor | TensorPlaceholder | int | float | bool
Examples = Example | Sequence[Example]


class ExampleArgs:
    """Example arguments of the methods that are to be compiled.

    ExampleArgs().add_method("encode", x).add_method("decode", [x, y])

    Args:
        ranges: the least and the largest value of sizes that have a name.
        sizes: a value of each of them.
    """

    def __init__(
        self,
        ranges: Mapping[str, tuple[int, int]] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self._methods: dict[str, tuple[Example, ...]] = {}
        self.ranges = dict(ranges or {})
        self.sizes = dict(sizes or {})

    def add_method(self, method_name: str, example_args: Examples) -> ExampleArgs:
        """Adds a method; returns self.

        Raises:
            CaptureError: the method has been added before, or an argument is of another kind.
        """
        if method_name in self._methods:
            raise CaptureError(f"the method '{method_name}' has example arguments already")
        listed = example_args if isinstance(example_args, Sequence) else [example_args]
        for argument in listed:
            if not isinstance(argument, Example):
                raise CaptureError(
                    f"the example argument {argument!r} of '{method_name}' is a {type(argument).__name__}",
                    hint="give tensors, TensorPlaceholder or numbers; other values belong into the module",
                )
        self._methods[method_name] = tuple(listed)
        return self

    @staticmethod
    def get(example_args: Examples | ExampleArgs) -> ExampleArgs:
        """Example arguments in any form: those of ``forward``, if it is not said of what."""
        if isinstance(example_args, ExampleArgs):
            return example_args
        return ExampleArgs().add_method("forward", example_args)

    @property
    def methods(self) -> Mapping[str, tuple[Example, ...]]:
        """The example arguments of each method."""
        return self._methods

    def types(self) -> dict[str, list[Attribute | None]]:
        """The tensor types promised; None for numbers."""
        fresh = count()

        def type_of(argument: Example) -> Attribute | None:
            if isinstance(argument, torch.Tensor):
                argument = TensorPlaceholder.like(argument)
            return argument.type(fresh) if isinstance(argument, TensorPlaceholder) else None

        return {name: list(map(type_of, args)) for name, args in self._methods.items()}

    def for_tracing(self, ignore_traced_shapes: bool) -> dict[str, tuple[Any, ...]]:
        """Arguments to trace each method with.

        Raises:
            CaptureError: a placeholder promises more shapes than the ones that would be traced.
        """
        placeholders = [
            name
            for name, args in self._methods.items()
            if any(isinstance(argument, TensorPlaceholder) for argument in args)
        ]
        if placeholders and not ignore_traced_shapes:
            raise CaptureError(
                f"'{placeholders[0]}' is traced with one shape, a TensorPlaceholder promises others",
                hint="say ignore_traced_shapes=True if the trace is right for all of them, or do not trace",
            )
        return {
            name: tuple(a.tensor() if isinstance(a, TensorPlaceholder) else a for a in args)
            for name, args in self._methods.items()
        }
