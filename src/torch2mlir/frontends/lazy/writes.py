"""Writes on PyTorch's ``lazy`` device, and from it, that its functionalization makes something else of.

It says a write to an expanded tensor as what was there and the sum of the differences, NaN where that was infinite, in
calls that nothing tells from the program's own. So what a call of the program writes to is looked at here, above it.
Of the device's tensors it copies nothing to a tensor of another device either, as ``load_state_dict`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._C import _functionalization as functionalization
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from torch2mlir.frontends.fx.refused_writes import write_to_expanded
from torch2mlir.frontends.lazy.copies import COPYING_BY_STRIDES, is_copied, note_detached


class Writes(TorchFunctionMode):
    """Refuses writes to expanded tensors of the device and to parts of them; copies from it to tensors elsewhere.

    Views that eager mode copies are copied, so that writes reach what they reach there.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls the function.

        Raises:
            CaptureError: it has written to such a tensor.
        """
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _EXPANDING:
            return _expanded(func, args, kwargs)
        if name in COPYING_BY_STRIDES or (name == "to" and "memory_format" in kwargs):
            source, *others = args or (kwargs["input"],)
            named = {key: value for key, value in kwargs.items() if key != "input"}
            if is_copied(func, source, others, named):
                return func(source.clone(), *others, **named)
        if func in _COPYING and args and not torch._is_functional_tensor(args[0]):
            args = (args[0], *pytree.tree_map_only(torch.Tensor, _at_hand, tuple(args[1:])))
        expanded = [tensor for tensor in _may_be_written(args, kwargs) if _is_expanded(tensor)]
        before = [_times_written(tensor) for tensor in expanded]
        result = _called(func, args, kwargs)
        if name == "_pack_padded_sequence":
            return _packed(result, *args)
        if name == "detach":
            note_detached(args[0] if args else None, result)
        if [_times_written(tensor) for tensor in expanded] != before:
            raise write_to_expanded(name or str(func))
        return result


def _called(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What a function gives.

    In inference mode, functionalization takes no view of a tensor from outside of it; one that is tracked is as good.
    """
    try:
        return func(*args, **kwargs)
    except RuntimeError as error:
        if not torch.is_inference_mode_enabled() or _NO_VIEW not in str(error):
            raise
    with torch.inference_mode(False), torch.no_grad():
        return func(*args, **kwargs)


_NO_VIEW = "Cannot set version_counter for inference tensor"


def _may_be_written(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that a function of PyTorch's writes to if it does: its first argument, a list of them, ``out``."""
    given = (args[:1], kwargs.get("self"), kwargs.get("input"), kwargs.get("out"))
    return [leaf for leaf in pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]


_COPYING = {torch.Tensor.copy_, torch.Tensor.__setitem__}


def _at_hand(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor, on the CPU if it is of the device."""
    return tensor.cpu() if torch._is_functional_tensor(tensor) else tensor


def _packed(
    result: tuple[torch.Tensor, torch.Tensor],
    x: torch.Tensor,
    lengths: torch.Tensor,
    *options: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of lines one behind the other, and how many lines have each step: recurrent layers read that on the CPU."""
    lines = torch.empty(x.shape[:2])
    return result[0], torch._VF._pack_padded_sequence(lines, lengths, *options)[1]


_EXPANDING = {"expand", "expand_as", "broadcast_to"}


def _expanded(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What an expanding function gives; another view where that has no more elements than its operand."""
    result = _called(func, args, kwargs)
    source = args[0] if args else kwargs.get("input")
    if not isinstance(source, torch.Tensor) or not torch._is_functional_tensor(source):
        return result
    return source.view(result.shape) if result.numel() == source.numel() else result


def _is_expanded(tensor: torch.Tensor) -> bool:
    """Whether ``expand`` has given a tensor, or one that it is a view of."""
    if not torch._is_functional_tensor(tensor):
        return False
    return any(type(view) is _EXPAND for view in functionalization.get_view_meta_sequence(tensor))


_EXPAND = functionalization.expand_ViewMeta  # type: ignore[attr-defined]
_times_written = torch._functionalize_mutation_counter
