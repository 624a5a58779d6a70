"""Buffers that a model's call puts other tensors in the place of: ``self.steps = self.steps + 1``.

``torch.export`` makes such an assignment a write to the buffer where the module is the one it exports, and forgets it
without a word where it is a part of that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.nn.modules.module import register_module_buffer_registration_hook
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.memory import storage_of
from torch2mlir.frontends.pytrees import register_types


@dataclass(frozen=True)
class _Assigned:
    """A buffer that has been assigned to, and the tensor it was before."""

    module: torch.nn.Module
    name: str
    before: torch.Tensor

    @property
    def now(self) -> Any:
        """What is there."""
        return self.module._buffers[self.name]


@contextmanager
def assignments_kept(model: torch.nn.Module) -> Iterator[None]:
    """While this lasts, a call of the model ends with writes to the buffers that were assigned to.

    Raises:
        CaptureError: by the call, if a buffer becomes a tensor of another shape or dtype, or has another name too, by
            which the model would still have what it was.
    """
    names = {module: name for name, module in model.named_modules()}
    others = _other_names(model)
    paths = Counter(module for _, module in model.named_modules(remove_duplicate=False))
    twice = {type(module).__qualname__ for module, count in paths.items() if count > 1}
    calls_no_hooks = type(model).__call__ is not torch.nn.Module.__call__  # as GPyTorch's modules
    assigned = dict[tuple[torch.nn.Module, str], _Assigned]()
    started = dict[tuple[torch.nn.Module, str], torch.Tensor]()
    is_called = False

    def at_start(_model: Any, _args: Any) -> None:
        nonlocal is_called
        is_called = True
        assigned.clear()
        started.clear()
        for module in names:
            started.update(
                ((module, name), buffer)
                for name, buffer in module._buffers.items()
                if buffer is not None
            )

    def note_others() -> None:
        """Those that no assignment has told of: ``self._buffers["steps"] = ..``"""
        for (module, name), before in started.items():
            if (module, name) in assigned or module._buffers.get(name, before) is before:
                continue
            if (module, name) in others:
                _refuse_other_name(f"{names[module]}.{name}".lstrip("."), others[module, name])
            assigned[module, name] = _Assigned(module, name, before)

    def at_assignment(module: torch.nn.Module, name: str, value: Any) -> Any:
        before = module._buffers.get(name)
        if calls_no_hooks and module is not model and _are_traced(before, value):
            _refuse_own_call(name, type(model).__name__)
        if not is_called or before is None:
            return value
        if module not in names:
            if (
                type(module).__qualname__ in twice and value is not before
            ):  # PyTorch calls a copy of such a part
                _refuse_other_name(name, f"{name} of another {type(module).__name__}")
            return value
        if (module, name) in others and value is not before:
            _refuse_other_name(f"{names[module]}.{name}".lstrip("."), others[module, name])
        assigned.setdefault((module, name), _Assigned(module, name, before))
        # PyTorch, which looks at this module too, refuses one of its buffers in the place of another
        is_buffer = any(value is buffer for buffer in module._buffers.values())
        return value.clone() if module is model and is_buffer and value is not None else value

    def at_end(_model: Any, _args: Any, result: Any) -> Any:
        nonlocal is_called
        is_called = False
        note_others()
        for item in assigned.values():
            _check(item, f"{names[item.module]}.{item.name}".lstrip("."))
        register_types(result)
        return _written(list(assigned.values()), result)

    handles = [
        register_module_buffer_registration_hook(at_assignment),
        model.register_forward_pre_hook(at_start),
        model.register_forward_hook(at_end),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def assignments_refused(model: torch.nn.Module) -> Iterator[None]:
    """While this lasts, a call of the model does not assign to buffers: for captures that run no hooks.

    Raises:
        CaptureError: in the call.
    """
    names = {module: name for name, module in model.named_modules()}

    def at_assignment(module: torch.nn.Module, name: str, value: Any) -> None:
        before = module._buffers.get(name)
        if module in names and before is not None and value is not before:
            path = f"{names[module]}.{name}".lstrip(".")
            raise CaptureError(
                f"the model assigns to its buffer '{path}', and computes with numbers of tensors (int(x), x.item()), "
                "for which PyTorch's capture keeps no assignment",
                hint=f"write into it, self.{name}.copy_(..), or compute with tensors",
            )

    handle = register_module_buffer_registration_hook(at_assignment)
    try:
        yield
    finally:
        handle.remove()


def _other_names(model: torch.nn.Module) -> dict[tuple[torch.nn.Module, str], str]:
    """Of buffers whose memory has another name too in the model, that name."""
    held = defaultdict[int, list[tuple[torch.nn.Module, str, str]]](list)
    for path, module in model.named_modules(remove_duplicate=False):
        plain = {name: value for name, value in vars(module).items() if name != "_buffers"}
        for name, value in {**module._parameters, **module._buffers, **plain}.items():
            if isinstance(value, torch.Tensor):
                held[storage_of(value)].append((module, name, f"{path}.{name}".lstrip(".")))
    return {
        (module, name): next(p for _, _, p in several if p != path)
        for several in held.values()
        if len(several) > 1
        for module, name, path in several
    }


def _are_traced(*values: object) -> bool:
    return all(isinstance(value, FakeTensor) for value in values)


def _refuse_own_call(name: str, kind: str) -> None:
    raise CaptureError(
        f"a part of the model puts another tensor in the place of its buffer '{name}', which nobody hears of, for "
        f"{kind} has a __call__ of its own",
        hint="write into it, buffer.copy_(..), or compile a module with the usual __call__ around the model",
    )


def _refuse_other_name(name: str, other: str) -> None:
    raise CaptureError(
        f"the model puts another tensor in the place of its buffer '{name}', which is '{other}' as well",
        hint="write into it, buffer.copy_(..), which both names see, or give each its own: buffer.clone()",
    )


def _check(item: _Assigned, name: str) -> None:
    before, now = item.before, item.now
    is_tensor = isinstance(now, torch.Tensor)
    if not is_tensor or now.shape != before.shape or now.dtype != before.dtype:
        became = f"{now.dtype} {list(now.shape)}" if is_tensor else repr(now)
        raise CaptureError(
            f"the model's buffer '{name}' becomes another kind of tensor in a call: "
            f"{before.dtype} {list(before.shape)} becomes {became}",
            hint="give it its largest size and write into it, or make it an argument and a result of the model",
        )


def _written(assigned: list[_Assigned], result: Any) -> Any:
    """Writes what was assigned to where it was before; gives the result with copies of what that overwrites."""
    assigned = [item for item in assigned if item.now is not item.before]
    overwritten = {_memory(item.before) for item in assigned}

    def kept(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone() if _memory(tensor) in overwritten else tensor

    leaves = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    if any(_memory(leaf) in overwritten for leaf in leaves):
        result = pytree.tree_map_only(torch.Tensor, kept, result)
    values = [kept(item.now) for item in assigned]
    for item, value in zip(assigned, values, strict=True):
        item.before.copy_(value.detach())
        item.module._buffers[item.name] = item.before
    return result


def _memory(tensor: torch.Tensor) -> int:
    """Which storage a tensor is in."""
    return tensor.untyped_storage()._cdata
