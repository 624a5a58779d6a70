"""The tensors of the model a program was captured from, followed when the model gets others in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from torch2mlir.errors import InputError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.dictionary_writes import DictionaryWrites
from torch2mlir.program import StateInput


class _Entry(NamedTuple):
    """An attribute of a module: the dictionary it is in, its name there, and what it was."""

    table: dict[str, Any]
    name: str
    value: Any


class ModelState:
    """Where in a module the tensors of a compiled program are.

    Tensors of TorchScript modules are not followed: they are in no dictionary of Python's. Of a tensor that consists of
    others, as a quantized weight, the program has these, so that another one in its place is refused.

    Args:
        model: the module that the program comes from.
        tensors: those of the program.
    """

    def __init__(self, model: torch.nn.Module, tensors: Sequence[torch.Tensor]) -> None:
        self._model = model
        self._paths: dict[str, torch.Tensor] = {}
        self._of_parts: dict[str, torch.Tensor] = {}
        self._entries: list[_Entry] = []
        self._writes = DictionaryWrites([])
        self._may_differ = False
        wanted = {id(tensor) for tensor in tensors}
        scripts = tuple(
            f"{path}." if path else ""
            for path, part in model.named_modules()
            if isinstance(part, torch.jit.ScriptModule)
        )
        for named in (model.named_parameters, model.named_buffers):
            for name, tensor in named(remove_duplicate=False):
                if id(tensor) in wanted and not name.startswith(scripts):
                    self._paths[name] = tensor
                elif is_traceable_wrapper_subclass(tensor):
                    self._of_parts[name] = tensor
        self._watch()

    def _watch(self) -> None:
        """Notes every attribute on the way from the module to a tensor."""
        entries = dict[tuple[int, str], _Entry]()
        for path in (*self._paths, *self._of_parts):
            module: Any = self._model
            *way, last = path.split(".")
            for name in way:
                child = module._modules[name]
                entries[(id(module), name)] = _Entry(module._modules, name, child)
                module = child
            table = module._parameters if last in module._parameters else module._buffers
            entries[(id(module), last)] = _Entry(table, last, table[last])
        self._entries = list(entries.values())
        tables = {id(entry.table): entry.table for entry in self._entries}
        self._writes = DictionaryWrites([*tables.values()])
        self._may_differ = False

    def replaced(self) -> dict[int, torch.Tensor]:
        """The tensors that have been replaced since the last look: by the ``id`` of the old, the new.

        Raises:
            InputError: the model has no such tensor any more, or one that the program cannot take.
        """
        if not self._writes.since() and not self._may_differ:
            return {}
        self._may_differ = not all(table.get(name) is value for table, name, value in self._entries)
        if not self._may_differ:
            return {}
        for path, old in self._of_parts.items():
            if self._tensor(path) is not old:
                raise InputError(
                    f"'{path}' is another {type(old).__name__} than when the model was compiled, and the program has "
                    "the tensors that the old one consists of",
                    hint="compile the model again, or write into the tensor that is there: weight.copy_(other)",
                )
        now = {path: self._tensor(path) for path in self._paths}
        found = dict[int, torch.Tensor]()
        for path, old in self._paths.items():
            new = now[path]
            if found.setdefault(id(old), new) is not new:
                raise InputError(
                    f"'{path}' was the same tensor as another weight when the model was compiled, and is not any more",
                    hint="tie them again, or compile the model again",
                )
            if new.shape != old.shape or new.dtype != old.dtype:
                raise InputError(
                    f"'{path}' is a {_described(new)}, the model was compiled with a {_described(old)}",
                    hint="compile the model again",
                )
        changes = {key: new for key, new in found.items() if id(new) != key}
        self._paths = now
        self._watch()
        return changes

    def _tensor(self, path: str) -> torch.Tensor:
        module: Any = self._model
        *way, last = path.split(".")
        for name in way:
            module = getattr(module, name, None)
        if isinstance(module, torch.nn.Module):
            for table in (module._parameters, module._buffers):
                if isinstance(tensor := table.get(last), torch.Tensor):
                    return tensor
        raise InputError(
            f"the model no longer has the tensor '{path}' that it was compiled with",
            hint="compile the model again",
        )


def check_state(state: StateInput, tensor: torch.Tensor) -> None:
    """Looks at a tensor of the model that may have got other elements: ``weight.data = ..``, ``model.half()``.

    Raises:
        InputError: it has another dtype or other sizes than when the program was compiled.
    """
    type = state.type
    if type is None or type.dtype is None or type.sizes is None:
        return
    dtype = dtypes.FROM_ELEMENT_TYPE[type.dtype]
    fits = len(tensor.shape) == len(type.sizes) and all(
        want == have for want, have in zip(type.sizes, tensor.shape) if want is not None
    )
    if tensor.dtype is not dtype or not fits:
        raise InputError(
            f"'{state.name}' is a {_described(tensor)}, the model was compiled with a {dtype} tensor of sizes "
            f"{list(type.sizes)}",
            hint="compile the model again",
        )


def _described(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype} tensor of sizes {list(tensor.shape)}"
