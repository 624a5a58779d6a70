"""A call's arguments against the signature a program was captured with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.conversion.driver import solve
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.errors import InputError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.asked_of_tensors import answer
from torch2mlir.program import Layout, Signature, UserInput
from torch2mlir.runtime.call_structure import Rearrangement, arranged, flattened
from torch2mlir.runtime.small_sizes import AnotherProgram, SizeCheck
from torch2mlir.same_values import is_same

Shapes = tuple[tuple[str, int], ...]
"""The values of the symbols in a call, by name."""

_AGAIN = "compile the model again for such a call, or call it as at capture"
_REMEMBERED = 4096
"""Of how many combinations of dtypes and sizes it is remembered that they are right."""


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


def _is_call(spec: Any) -> bool:
    """Whether a structure is that of positional and of named arguments."""
    return spec.type is tuple and spec.num_children == 2 and spec.child(1).type is dict


def _named(kwargs: Mapping[str, Any], captured: Sequence[str]) -> str:
    """What is said of names that the captured call does not have."""
    strange = [name for name in kwargs if name not in captured]
    return f", with the unknown name '{strange[0]}'" if strange else ""


class Binder:
    """Checks a call's arguments against the signature and finds the values of the symbols."""

    def __init__(self, signature: Signature, sizes: SizeCheck | None = None) -> None:
        self.signature = signature
        self._sizes = sizes
        self._spec = signature.in_spec
        self._flat = _flat_call(signature)
        self._extras = self._named_extras()
        self._tensors = list[int]()
        self._known = dict[tuple[Any, ...], Shapes | AnotherProgram]()
        self._read_types()
        # a call of as many tensors by position and nothing else, all of which are looked at
        self._plain = len(self._tensors)
        if self._flat != (self._plain, set()):
            self._plain = -1
        self.takes_kinds = self._plain > 0 and not signature.layouts and not signature.flags

    def _named_extras(self) -> list[str]:
        """The arguments behind ``**kwargs`` of the model, in the order of capture, where that may matter."""
        parameters = self.signature.parameters
        kinds = {p.kind for p in parameters.parameters.values()} if parameters else set()
        if "order" not in self.signature.arrangements or not _is_call(self._spec):
            return []
        if parameters is None or inspect.Parameter.VAR_KEYWORD not in kinds:
            return []
        return [n for n in self._spec.child(1).context or () if n not in parameters.parameters]

    def _read_types(self) -> None:
        """Which of the inputs are tensors; where their sizes are fixed, calls with these are known to be right."""
        fixed, is_fixed = list[tuple[Any, ...]](), not self.signature.layouts
        for item in self.signature.user_inputs:
            if item.type is None:
                continue
            self._tensors.append(item.position)
            dtype, sizes = item.type.dtype, item.type.sizes
            if dtype is None or sizes is None or not dims.is_static(sizes):
                is_fixed = False
            elif is_fixed:
                fixed.append((dtypes.FROM_ELEMENT_TYPE[dtype], sizes))
        if is_fixed:
            self._known[tuple(fixed)] = ()

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], Shapes]:
        """The flat arguments and the values of the symbols.

        Raises:
            InputError, AnotherProgram: as ``leaves`` and ``symbols``.
        """
        is_plain = not kwargs and len(args) == self._plain
        leaves = list(args) if is_plain else self.leaves(args, kwargs)
        symbols = self.symbols(leaves)
        for position, name, value in self.signature.flags:
            if (now := answer(name, leaves[position])) != value:
                raise AnotherProgram(
                    f"the model's code may ask an input for {name}: it says {now!r}, and said {value!r} at capture",
                    hint=_AGAIN,
                )
        return leaves, symbols

    def leaves(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], as_captured: bool = True
    ) -> list[Any]:
        """The flat arguments, in the order of capture.

        Args:
            args: of the call.
            kwargs: of the call.
            as_captured: whether an arrangement that the model's code may tell from that of capture is refused.

        Raises:
            InputError: another structure or number of arguments than captured.
            AnotherProgram: another order or type of what holds them.
        """
        if self._spec is None:
            return list(args)
        if self._extras and as_captured:
            self._check_order(kwargs)
        if self._flat is not None and (len(args), kwargs.keys()) == self._flat:
            leaves = [*args, *self._ordered(kwargs).values()]
            if all(isinstance(leaf, torch.Tensor) for leaf in leaves):
                return leaves
        leaves = self._flattened(args, kwargs, as_captured)
        for constant in self.signature.constants:
            value = leaves[constant.position]
            if not is_same(value, constant.value):
                raise InputError(
                    f"input '{constant.name}' was fixed to {constant.value!r} at capture, got {value!r}",
                    hint="compile again with the other value",
                )
        return leaves

    def _check_order(self, kwargs: Mapping[str, Any]) -> None:
        given = [name for name in kwargs if name in self._extras]
        if given != self._extras and set(given) == set(self._extras):
            raise AnotherProgram(
                f"{', '.join(given)} are in another order than at capture, which the model's code may ask for",
                hint=_AGAIN,
            )

    def _flattened(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], as_captured: bool
    ) -> list[Any]:
        """The leaves of a call that is arranged otherwise than the captured one, or has more than tensors."""
        spec = self._spec
        if not _is_call(spec):
            return list(flattened(spec, (tuple(args), dict(kwargs)), "the arguments"))
        args, kwargs = arranged(spec, self.signature.parameters, args, kwargs)
        positional, named = spec.child(0), spec.child(1)
        names = list(self.signature.parameters.parameters) if self.signature.parameters else []
        if len(args) != positional.num_children or set(kwargs) != set(named.context):
            raise InputError(
                f"the program takes {spec.num_leaves} inputs ({self._names()}), got "
                f"{len(pytree.tree_leaves((args, kwargs)))}{_named(kwargs, named.context)}",
                hint="call it with arguments of the structure it was captured with",
            )
        leaves, others = list[Any](), list[Rearrangement]()
        for index, (child, value) in enumerate(zip(positional.children(), args, strict=True)):
            name = f"'{names[index]}'" if index < len(names) else f"argument {index}"
            leaves.extend(flattened(child, value, name, others))
        for name, child in zip(named.context, named.children(), strict=True):
            leaves.extend(flattened(child, kwargs[name], f"'{name}'", others))
        for each in others:
            if as_captured and each.kind in self.signature.arrangements:
                raise AnotherProgram(
                    f"{each.path} is {each.what} than at capture, which the model's code may ask for",
                    hint=_AGAIN,
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
        """The value of every symbol, from the sizes of the inputs; remembered for sizes that were seen before.

        Raises:
            InputError: an input's dtype, rank or size is not what the program was captured for.
            AnotherProgram: they are, and the program does not hold for these sizes.
        """
        try:
            key: tuple[Any, ...] = tuple(
                [(leaves[p].dtype, leaves[p].shape) for p in self._tensors]
            )
            if self.signature.layouts:
                memory = [leaves[p] for p in self.signature.layouts]
                key = (key, *[(t.stride(), t.storage_offset()) for t in memory])
        except (AttributeError, RuntimeError):  # not a tensor, or one without sizes
            return self._solved(leaves)
        known = self._known.get(key)
        if known is None:
            try:
                known = self._solved(leaves)
            except AnotherProgram as refusal:
                known = refusal
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = known
        if isinstance(known, AnotherProgram):
            raise known.with_traceback(None)
        return known

    def _solved(self, leaves: Sequence[Any]) -> Shapes:
        values = dict[str, int]()
        for item in self.signature.user_inputs:
            if item.type is not None:
                self._check_kind(item, leaves[item.position])
        for check in (self._solve, self._check_size):
            for item in self.signature.user_inputs:
                for axis, size in enumerate(item.type.sizes or () if item.type else ()):
                    check(item, axis, size, int(leaves[item.position].shape[axis]), values)
        for item in self.signature.user_inputs:
            if (layout := self.signature.layouts.get(item.position)) is not None:
                _check_layout(item, layout, leaves[item.position], values)
        for name, value in values.items():
            low, high = self.signature.ranges.get(name, (0, value))
            if not low <= value <= high and not (low == 2 and value in (0, 1)):
                kind = AnotherProgram if self._is_free(name) else InputError
                raise kind(
                    f"{self._place(name)} is {value}, outside the range {low} to {high} it was captured for",
                    hint="compile again with other bounds in dynamic_shapes",
                )
        if self._sizes is not None:
            self._sizes.check(values, self._place)
        return tuple(sorted(values.items()))

    def _place(self, symbol: str) -> str:
        """Which size of which input a symbol is, with the user's name for it."""
        known = self.signature.size_names.get(symbol)
        shown = f"the size '{known}'" if known else "the size"
        for item in self.signature.user_inputs:
            for axis, size in enumerate(item.type.sizes or () if item.type else ()):
                if isinstance(size, Dim) and size == Dim("symbol", (symbol,)):
                    return f"{shown} in dimension {axis} of input '{item.name}'"
        return f"{shown} {symbol}" if known is None else shown

    def _is_free(self, symbol: str) -> bool:
        """Whether nobody but capture has said what a symbol may be."""
        return any(
            size == Dim("symbol", (symbol,)) and (item.position, axis) in self.signature.free_sizes
            for item in self.signature.user_inputs
            for axis, size in enumerate(item.type.sizes or () if item.type else ())
        )

    def _check_kind(self, item: UserInput, value: Any) -> None:
        type = item.type
        if type is None or type.sizes is None or type.dtype is None:
            return
        if not isinstance(value, torch.Tensor):
            raise InputError(f"input '{item.name}' should be a tensor, got {value!r}")
        if value.is_nested:
            raise InputError(
                f"input '{item.name}' is a nested tensor, whose parts have sizes of their own",
                hint="pass value.to_padded_tensor(0.0), or the parts one by one",
            )
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

    def _readable(self, size: Dim) -> str:
        """A size in the user's names."""
        names = {symbol: dims.symbol(name) for symbol, name in self.signature.size_names.items()}
        return str(dims.substitute(size, names))

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
            was = f"{self._readable(size)} = {expected}" if isinstance(size, Dim) else str(size)
            message = (
                f"input '{item.name}' should have size {was} in dimension {axis}, got {actual}"
            )
            if (item.position, axis) in self.signature.free_sizes:
                raise AnotherProgram(
                    f"{message}: the model makes a number of it",
                    hint="compile the model for this size too, or let it compute with x.shape and no int(..) of it",
                )
            is_fixed = not isinstance(size, Dim)
            hint = "capture with dynamic_shapes to let this size vary" if is_fixed else None
            raise InputError(message, hint=hint)


def _check_layout(
    item: UserInput, layout: Layout, value: torch.Tensor, symbols: Mapping[str, int]
) -> None:
    """Raises an error if an input lies in memory otherwise than at capture."""
    expected = [dims.substitute(stride, symbols) for stride in layout.strides]
    matter = [axis for axis, size in enumerate(value.shape) if size > 1]
    hint = "pass it as it was at capture, as .contiguous() if it was so, or compile again"
    differs = any(value.stride(axis) != expected[axis] for axis in matter)
    if differs and layout.is_asked:
        raise AnotherProgram(
            f"input '{item.name}' has the strides {list(value.stride())}, and {expected} at capture: the model's code "
            "asks how it lies in memory",
            hint=hint,
        )
    if differs and layout.is_written:
        raise AnotherProgram(
            f"input '{item.name}' has the strides {list(value.stride())}, and {expected} at capture: the program "
            "writes to what shares its memory for some strides, and is a copy of it for others (contiguous, reshape)",
            hint=hint,
        )
    if differs:
        raise InputError(
            f"input '{item.name}' has the strides {list(value.stride())}, and {expected} at capture: the program reads "
            "memory (as_strided)",
            hint=hint,
        )
    if layout.offset not in (None, value.storage_offset()):
        raise InputError(
            f"input '{item.name}' starts at place {value.storage_offset()} of its storage, and at {layout.offset} at "
            "capture: the program reads that storage (as_strided)",
            hint=hint,
        )
