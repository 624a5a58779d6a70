"""A call's arguments against the signature a program was captured with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.conversion.driver import solve
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.errors import InputError
from torch2mlir.frontends import dtypes
from torch2mlir.program import Signature, UserInput

Shapes = tuple[tuple[str, int], ...]
"""The values of the symbols in a call, by name."""


def _flat_call(signature: Signature) -> tuple[int, set[str]] | None:
    """How many tensors a program takes by position, and the names of others, if it takes nothing else.

    Such a call is flattened without a walk through its structure, which takes longer than a small model.
    """
    spec = signature.in_spec
    if spec is None or signature.constants or spec.type is not tuple or spec.num_children != 2:
        return None
    positional, named = spec.child(0), spec.child(1)
    if named.type is not dict or any(
        not child.is_leaf() for child in (*positional.children(), *named.children())
    ):
        return None
    return positional.num_children, set(named.context)


class Binder:
    """Checks a call's arguments against the signature and finds the values of the symbols."""

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self._spec = signature.in_spec
        self._flat = _flat_call(signature)

    def leaves(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The flat arguments, in the order of capture.

        Raises:
            InputError: another structure or number of arguments than captured.
        """
        if self._spec is None:
            return list(args)
        if self._flat is not None and (len(args), kwargs.keys()) == self._flat:
            leaves = [*args, *self._ordered(kwargs).values()]
            if all(isinstance(leaf, torch.Tensor) for leaf in leaves):
                return leaves
        if self._spec.type is tuple and self._spec.num_children == 2:
            kwargs = self._ordered(kwargs)
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if spec != self._spec:
            expected = self._spec.num_leaves
            if len(leaves) != expected:
                raise InputError(
                    f"the program takes {expected} inputs ({self._names()}), got {len(leaves)}",
                    hint="call it with arguments of the structure it was captured with",
                )
            raise InputError(
                f"the arguments are structured as {spec}, the program was captured with {self._spec}",
                hint="pass positional and keyword arguments as when the program was captured",
            )
        for constant in self.signature.constants:
            value = leaves[constant.position]
            if value != constant.value:
                raise InputError(
                    f"input '{constant.name}' was fixed to {constant.value!r} at capture, got {value!r}",
                    hint="compile again with the other value",
                )
        return leaves

    def _ordered(self, kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
        names = self._spec.child(1).context if hasattr(self._spec, "child") else None
        if names is None or set(names) != set(kwargs):
            return kwargs
        return {name: kwargs[name] for name in names}

    def _names(self) -> str:
        named = [(i.position, i.name) for i in self.signature.user_inputs]
        named += [(c.position, c.name) for c in self.signature.constants]
        return ", ".join(name for _, name in sorted(named))

    def symbols(self, leaves: Sequence[Any]) -> Shapes:
        """The value of every symbol, from the sizes of the inputs.

        Raises:
            InputError: an input's dtype, rank or size is not what the program was captured for.
        """
        values = dict[str, int]()
        for item in self.signature.user_inputs:
            if item.type is not None:
                self._check_kind(item, leaves[item.position])
        for check in (self._solve, self._check_size):
            for item in self.signature.user_inputs:
                for axis, size in enumerate(item.type.sizes or () if item.type else ()):
                    check(item, axis, size, int(leaves[item.position].shape[axis]), values)
        for name, value in values.items():
            low, high = self.signature.ranges.get(name, (0, value))
            if not low <= value <= high and not (low == 2 and value in (0, 1)):
                raise InputError(
                    f"the size '{name}' is {value}, outside the range {low} to {high} it was captured for"
                )
        return tuple(sorted(values.items()))

    def _check_kind(self, item: UserInput, value: Any) -> None:
        type = item.type
        if type is None or type.sizes is None or type.dtype is None:
            return
        if not isinstance(value, torch.Tensor):
            raise InputError(f"input '{item.name}' should be a tensor, got {value!r}")
        dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype]
        if value.dtype != dtype:
            raise InputError(
                f"input '{item.name}' should be {dtype}, got {value.dtype}",
                hint=f"convert it with .to({dtype})",
            )
        if value.dim() != len(type.sizes):
            shown = ", ".join(str(size) for size in type.sizes)
            raise InputError(
                f"input '{item.name}' should have rank {len(type.sizes)} ([{shown}]), got {list(value.shape)}"
            )

    def _solve(
        self, item: UserInput, axis: int, size: Any, actual: int, values: dict[str, int]
    ) -> None:
        if isinstance(size, Dim) and (solved := solve(size)) is not None:
            name, formula = solved
            if name not in values or size.op == "symbol":
                value = dims.substitute(formula, {"__size": actual})
                if isinstance(value, int):
                    values.setdefault(name, value)

    def _check_size(
        self, item: UserInput, axis: int, size: Any, actual: int, values: dict[str, int]
    ) -> None:
        expected = dims.substitute(size, values) if size is not None else actual
        if expected != actual:
            was = f"{size} = {expected}" if isinstance(size, Dim) else str(size)
            raise InputError(
                f"input '{item.name}' should have size {was} in dimension {axis}, got {actual}",
                hint=None
                if isinstance(size, Dim)
                else "capture with dynamic_shapes to let this size vary",
            )
