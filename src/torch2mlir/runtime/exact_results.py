"""What PyTorch would compute without rounding, beside what it computes: by how much rounding alone can change a result.

The mean of centred numbers, or a running mean behind two normalizations, is 0 but for rounding: what another order of
sums gives there has nothing in common with PyTorch's, and is as right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

_WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.float64: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
    torch.complex128: torch.complex128,
}
_ROUNDING = {torch.float16: 1e-2, torch.complex32: 1e-2, torch.bfloat16: 5e-2}
"""The largest error of a sum, as a part of the largest number that was met."""
_ROUNDING_OF_OTHERS = 1e-4
_STEPS = {
    *("ceil", "floor", "floor_divide", "fmod", "frac", "heaviside"),
    *("nextafter", "remainder", "round", "sgn", "sign", "trunc"),
}
"""What rounding changes by more than rounding."""
_WITHOUT_ELEMENTS = {
    *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"),
    *("resize", "resize_as", "set"),
}
"""What gives memory as it is: elements may come to it by no op, as in a copy of a storage."""
_OVERWRITING = {"copy_", "fill_", "zero_"}
"""What does not read what it writes to."""


class Exact(NamedTuple):
    """A result without rounding.

    Attributes:
        value: in doubles.
        rounded: what PyTorch computes.
        largest: of the numbers that were met on the way.
    """

    value: torch.Tensor
    rounded: torch.Tensor
    largest: float

    @property
    def error(self) -> float:
        """The largest error of what PyTorch computes; 0 where it is more than rounding explains."""
        errors = (self.rounded.to(self.value.dtype) - self.value).abs()
        largest = float(errors.max()) if errors.numel() else 0.0
        bound = _ROUNDING.get(self.rounded.dtype, _ROUNDING_OF_OTHERS) * self.largest
        return largest if largest <= bound < math.inf else 0.0


def exact_results(run: Callable[[], Any]) -> list[Exact | None]:
    """What each of some results is without rounding; None for what is no tensor of floats, or not computed.

    Args:
        run: computes them in PyTorch, as it did before, and leaves nothing behind. Where it fails, nothing is known and
            the list is empty.
    """
    try:
        with torch.no_grad(), _InDoubles() as doubles:
            results = pytree.tree_leaves(run())
    except Exception:  # a model that does not run beside another mode
        return []
    found = list[Exact | None]()
    for result in results:
        value = doubles.value_of(result) if isinstance(result, torch.Tensor) else None
        found.append(None if value is None else Exact(value, result.detach(), doubles.largest))
    return found


class _InDoubles(TorchDispatchMode):
    """Each op is also computed in doubles, of what was computed in doubles; integers and choices stay PyTorch's.

    Tensors of which nothing is known in doubles are what they are at the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.values = WeakTensorKeyDictionary()
        self.largest = 0.0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        if (
            torch.Tag.nondeterministic_seeded in func.tags
            or name.rstrip("_") in _STEPS | _WITHOUT_ELEMENTS
        ):
            return func(*args, **kwargs)
        read = list(args[name in _OVERWRITING :])
        for leaf in pytree.tree_leaves((read, kwargs)):
            if isinstance(leaf, torch.Tensor) and not func.is_view:
                self._meet(leaf)
        wide_args, wide_kwargs = pytree.tree_map(self._wide, (tuple(args), dict(kwargs)))
        result = func(*args, **kwargs)
        try:
            wide = func(*wide_args, **wide_kwargs)
        except (RuntimeError, TypeError, ValueError):  # it does not take doubles
            return result
        for mine, theirs in zip(pytree.tree_leaves(result), pytree.tree_leaves(wide)):
            if isinstance(mine, torch.Tensor) and mine.dtype in _WIDE:
                if not func.is_view:
                    self._meet(mine)
                self.values[mine] = theirs.to(_WIDE[mine.dtype])
        return result

    def value_of(self, leaf: torch.Tensor) -> torch.Tensor | None:
        """What a tensor is in doubles, if that is known: what has come to it by no op is not."""
        value = self.values.get(leaf)
        if value is None or value.shape != leaf.shape:
            return None
        now = leaf.to(value.dtype)
        bound = _ROUNDING.get(leaf.dtype, _ROUNDING_OF_OTHERS) * max(self.largest, _largest(leaf))
        same = (now == value) | (now.isnan() & value.isnan()) | ((now - value).abs() <= bound)
        return value if bool(same.all()) else None

    def _wide(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.dtype):
            return _WIDE.get(leaf, leaf)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.dtype not in _WIDE:
            return leaf.clone()  # an op may write to it
        value = self.value_of(leaf)
        if value is None:
            self.values[leaf] = value = leaf.to(_WIDE[leaf.dtype], copy=True)
        return value

    def _meet(self, tensor: torch.Tensor) -> None:
        if tensor.dtype in _WIDE:
            self.largest = max(self.largest, _largest(tensor))


def _largest(tensor: torch.Tensor) -> float:
    """The largest magnitude of a tensor's numbers."""
    finite = tensor[tensor.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0
