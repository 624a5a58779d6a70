"""A compiled function goes on with what was so when its model was captured: who changes that is told.

What the model's Python code reads is one such thing; hooks, another ``forward`` and autocast are others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import torch

from torch2mlir.frontends.module_state import Hooks, dict_versions
from torch2mlir.runtime.gradients import frames_of_ours

_VALUES = bool | int | float | str | None | tuple | torch.Tensor
_OWN = frozenset(vars(torch.nn.Module())) - {"training"}
"""Attributes every module has; its tensors are followed, see ``model_state``."""


class _Attribute(NamedTuple):
    table: dict[str, Any]
    name: str
    path: str
    value: Any

    @property
    def is_current(self) -> bool:
        now = self.table.get(self.name)
        if now is self.value:
            return True
        is_tensor = isinstance(now, torch.Tensor) or isinstance(self.value, torch.Tensor)
        return not is_tensor and type(now) is type(self.value) and bool(now == self.value)


class AttributeNotice:
    """Looks at each call whether a model's attributes are what they were at capture, and warns of it once.

    These are numbers, texts and plain tensors that the code of a class in the model has a name for, ``training``, and
    a ``forward`` of a single module.

    Args:
        model: that a program has just been captured from.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        names = {type(module): _names(type(module)) for module in model.modules()}
        anywhere = frozenset[str]().union(*names.values()) - _OWN - {"training"}
        self._attributes = [
            _Attribute(vars(module), name, f"{path}.{name}".lstrip("."), value)
            for path, module in model.named_modules()
            if not isinstance(module, torch.jit.ScriptModule)
            for name, value in vars(module).items()
            if name in anywhere or name == "training" and name in names[type(module)]
            if isinstance(value, _VALUES)
        ]
        self._attributes += [
            _Attribute(vars(module), "forward", f"{path}.forward".lstrip("."), forward)
            for path, module in model.named_modules()
            if not isinstance(module, torch.jit.ScriptModule)
            for forward in [vars(module).get("forward")]
        ]
        self._tables = list({id(each.table): each.table for each in self._attributes}.values())
        self._seen = dict_versions(self._tables)

    def check(self) -> None:
        """Warns where the model's own call may be another computation."""
        if not self._tables:
            return
        seen = dict_versions(self._tables)
        if seen is not None and seen == self._seen:
            return
        self._seen = seen
        changed = next((each for each in self._attributes if not each.is_current), None)
        if changed is None:
            return
        self._tables = []
        now, then = changed.table.get(changed.name), changed.value
        are_shown = not isinstance(now, torch.Tensor) and not isinstance(then, torch.Tensor)
        was = f"is {now!r} and was {then!r}" if are_shown else "is another than"
        warnings.warn(
            f"the model's '{changed.path}' {was} when it was compiled, and the compiled function goes on with that: "
            "compile the model again, or set it back",
            stacklevel=frames_of_ours() + 1,
        )


class HookNotice:
    """Looks at each call whether a model has the hooks that it had at capture, and warns of it once.

    Args:
        model: that a program has just been captured from.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._hooks: Hooks | None = Hooks(model)

    def check(self) -> None:
        """Warns where the model's own call may be another computation."""
        if self._hooks is None or (changed := self._hooks.changed()) is None:
            return
        self._hooks = None
        where = f"the model's '{changed}'" if changed else "the model"
        warnings.warn(
            f"{where} has other hooks than when it was compiled, and the compiled function goes on without: "
            "compile the model again",
            stacklevel=frames_of_ours() + 1,
        )


class AutocastNotice:
    """Looks at each call whether autocast is what it was at capture, and warns of it once."""

    def __init__(self) -> None:
        self._then: Any = _autocast()

    def check(self) -> None:
        """Warns where eager mode would compute in another dtype."""
        if self._then is None or (now := _autocast()) == self._then:
            return
        then, self._then = self._then, None
        warnings.warn(
            f"autocast is {_shown(now)} and was {_shown(then)} when the function was compiled, and it goes on so: "
            "compile it under the autocast it is called in",
            stacklevel=frames_of_ours() + 1,
        )


def _autocast() -> torch.dtype | bool:
    """The dtype of autocast; False where it is off."""
    return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu")


def _shown(autocast: torch.dtype | bool) -> str:
    return f"on ({autocast})" if autocast else "off"


def _names(kind: type) -> frozenset[str]:
    """The attributes that the code of a module's class has names for, once a module is made."""
    own = kind.__mro__[: kind.__mro__.index(torch.nn.Module)]
    found = (item for each in own for item in vars(each).items())
    codes = (f.__code__ for name, f in found if isinstance(f, FunctionType) and name != "__init__")
    return frozenset(name for code in codes for each in _nested(code) for name in each.co_names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
