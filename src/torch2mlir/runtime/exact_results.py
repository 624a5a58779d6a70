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
        value = doubles.values.get(result) if isinstance(result, torch.Tensor) else None
        found.append(None if value is None else Exact(value, result.detach(), doubles.largest))
    return found


class _InDoubles(TorchDispatchMode):
    """Each op is also computed in doubles, of what was computed in doubles; integers and choices stay PyTorch's."""

    def __init__(self) -> None:
        super().__init__()
        self.values = WeakTensorKeyDictionary()
        self.largest = 0.0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        wide_args, wide_kwargs = pytree.tree_map(self._wide, (tuple(args), dict(kwargs)))
        result = func(*args, **kwargs)
        try:
            is_random = torch.Tag.nondeterministic_seeded in func.tags
            stays = is_random or func.overloadpacket.__name__.rstrip("_") in _STEPS
            wide = result if stays else func(*wide_args, **wide_kwargs)
        except (RuntimeError, TypeError, ValueError):  # it does not take doubles
            wide = result
        if wide is result:
            for leaf in pytree.tree_leaves((args, kwargs)):  # it may have written to them
                if isinstance(leaf, torch.Tensor):
                    self.values.pop(leaf, None)
        else:
            for mine, theirs in zip(pytree.tree_leaves(result), pytree.tree_leaves(wide)):
                if isinstance(mine, torch.Tensor) and mine.dtype in _WIDE:
                    self._meet(mine)
                    self.values[mine] = theirs.to(_WIDE[mine.dtype])
        return result

    def _wide(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.dtype):
            return _WIDE.get(leaf, leaf)
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if leaf.dtype not in _WIDE:
            return leaf.clone()  # an op may write to it
        if leaf not in self.values:
            self._meet(leaf)
            self.values[leaf] = leaf.to(_WIDE[leaf.dtype], copy=True)
        return self.values[leaf]

    def _meet(self, tensor: torch.Tensor) -> None:
        finite = tensor[tensor.isfinite()]
        if finite.numel():
            self.largest = max(self.largest, float(finite.abs().max()))
