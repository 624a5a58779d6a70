"""What holds values that a model's code can read, as it was at some time: namespaces, containers, variables, arrays."""

from __future__ import annotations

import gc
import os
import pickle
import random
import re
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import partial
from io import BytesIO, StringIO
from operator import attrgetter
from types import CellType, FunctionType
from typing import Any

import torch

from torch2mlir.frontends.tensor_kinds import TensorKinds


class Table(ABC):
    """Something that holds values under names or places, as it was when it was reached.

    Args:
        path: of what holds the values.
        name: of the attribute or variable that it was reached by last.
        owner: the object that has this attribute; None of variables.
    """

    def __init__(self, path: str, name: str, owner: Any = None) -> None:
        self.path = path
        self.name = name
        self.owner = owner
        self.saved = self.entries()

    @property
    def versioned(self) -> dict[Any, Any] | None:
        """A dictionary that is written to whenever the values change, where there is one."""
        return None

    def is_untouched(self) -> bool:
        """Whether a glance tells that nothing is another."""
        return False

    @abstractmethod
    def entries(self) -> dict[Any, Any]:
        """What it holds now."""

    @abstractmethod
    def write(self, entries: dict[Any, Any]) -> None:
        """Makes it hold these and no others."""

    def name_of(self, key: Any) -> str:
        """The attribute or variable by which code reaches a value."""
        return self.name

    def path_of(self, key: Any) -> str:
        """Where a value is, as a reader would write it."""
        return f"{self.path}[{key!r}]"


class Names(Table):
    """A namespace: attributes of an object, or some global variables.

    Args:
        path, name, owner: see :class:`Table`.
        live: the namespace.
        names: which of them count; all but ``hidden`` otherwise.
        hidden: which do not.
    """

    def __init__(
        self,
        path: str,
        name: str,
        live: dict[str, Any],
        owner: Any = None,
        names: frozenset[str] | None = None,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self.live, self.names, self.hidden = live, names, hidden
        super().__init__(path, name, owner)

    @property
    def versioned(self) -> dict[Any, Any] | None:
        return self.live

    def entries(self) -> dict[Any, Any]:
        if self.names is not None:
            return {name: self.live[name] for name in self.names if name in self.live}
        if not self.hidden:
            return dict(self.live)
        return {name: value for name, value in self.live.items() if name not in self.hidden}

    def write(self, entries: dict[Any, Any]) -> None:
        for name in self.entries().keys() - entries.keys():
            del self.live[name]
        self.live.update(entries)

    def name_of(self, key: Any) -> str:
        return str(key)

    def path_of(self, key: Any) -> str:
        return f"{self.path}.{key}".lstrip(".")


class OfModule(Names):
    """The parameters, buffers or parts of a module.

    Args:
        path: of the module.
        module: it.
        kind: ``_parameters``, ``_buffers`` or ``_modules``.
    """

    def __init__(self, path: str, module: torch.nn.Module, kind: str) -> None:
        self.kind = kind
        super().__init__(path, kind, getattr(module, kind), module)


class OfParts(OfModule):
    """The parts of a module, and their order.

    Args:
        path: of the module.
        module: it.
    """

    def __init__(self, path: str, module: torch.nn.Module) -> None:
        super().__init__(path, module, "_modules")

    @property
    def versioned(self) -> dict[Any, Any] | None:
        return _counted(self.live)

    def entries(self) -> dict[Any, Any]:
        return super().entries() | ({_ORDER: tuple(self.live)} if self.live else {})

    def write(self, entries: dict[Any, Any]) -> None:
        _write_in_order(self.live, entries)

    def name_of(self, key: Any) -> str:
        return self.path_of(key) if key is _ORDER else super().name_of(key)

    def path_of(self, key: Any) -> str:
        return f"list({self.path or 'the model'})" if key is _ORDER else super().path_of(key)


class WhereParts(OfModule):
    """The dictionary in which a module has its parts: ``del layers[0]`` of a list makes another one.

    Args:
        path: of the module.
        module: it.
    """

    def __init__(self, path: str, module: torch.nn.Module) -> None:
        self.kind = "_modules"
        names = frozenset({self.kind})
        Names.__init__(self, path, self.kind, vars(module), module, names=names)

    def name_of(self, key: Any) -> str:
        return self.path_of(key)

    def path_of(self, key: Any) -> str:
        return f"list({self.path or 'the model'})"


class OfScript(Table):
    """What the methods of a TorchScript program read of one of its modules: numbers, texts and tensors.

    Args:
        path: of the module.
        module: it.
        names: of all attributes that the program reads.
    """

    def __init__(self, path: str, module: torch.jit.ScriptModule, names: frozenset[str]) -> None:
        self.live: Any = module._c
        kind = torch._C.ConcreteModuleType.from_jit_type(self.live._type())
        constants = kind.get_constants()  # which nobody can set
        self.names = [n for n in names if self.live.hasattr(n) and n not in constants]
        self.names = [name for name in self.names if _is_value(self.live.getattr(name))]
        super().__init__(path, "")

    def entries(self) -> dict[Any, Any]:
        return {name: _hashed(self.live.getattr(name)) for name in self.names}

    def write(self, entries: dict[Any, Any]) -> None:
        for name, value in entries.items():
            kind = type(self.live.getattr(name))
            self.live.setattr(name, kind(value) if kind in (list, dict) else value)

    def name_of(self, key: Any) -> str:
        return str(key)

    def path_of(self, key: Any) -> str:
        return f"{self.path}.{key}".lstrip(".")


def _is_value(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_value, value))
    if isinstance(value, dict):
        return all(map(_is_value, value.values()))
    return isinstance(value, bool | int | float | str | torch.Tensor | None)


def _hashed(value: Any) -> Any:
    """A container as one that is compared by what is in it: TorchScript makes another one for every reader."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashed, value))
    return tuple(value.items()) if isinstance(value, dict) else value


class Keys(Names):
    """A dictionary: its values, and the order of its keys."""

    @property
    def versioned(self) -> dict[Any, Any] | None:
        return _counted(self.live)

    def entries(self) -> dict[Any, Any]:
        return super().entries() | {_ORDER: tuple(members_of(self.live))}

    def write(self, entries: dict[Any, Any]) -> None:
        _write_in_order(self.live, entries)

    def name_of(self, key: Any) -> str:
        return self.name

    def path_of(self, key: Any) -> str:
        return f"list({self.path})" if key is _ORDER else f"{self.path}[{key!r}]"


_ORDER = object()
"""The place of the order of keys among the values."""


def _counted(live: dict[Any, Any]) -> dict[Any, Any] | None:
    """A dictionary, if Python counts all that becomes of it: move_to_end writes to none."""
    return None if isinstance(live, OrderedDict) else live


def _write_in_order(live: dict[Any, Any], entries: Mapping[Any, Any]) -> None:
    kind: Any = OrderedDict if isinstance(live, OrderedDict) else dict
    kind.clear(live)
    for key in entries.get(_ORDER, ()):
        kind.__setitem__(live, key, entries[key])


class Members(Table):
    """A list, a deque or a set."""

    def __init__(self, path: str, name: str, live: Any, owner: Any = None) -> None:
        self.live = live
        super().__init__(path, name, owner)

    def entries(self) -> dict[Any, Any]:
        return dict(enumerate(members_of(self.live)))

    def write(self, entries: dict[Any, Any]) -> None:
        kind = _kind_of(self.live)
        kind.clear(self.live)
        add = kind.update if kind is set else kind.extend
        add(self.live, entries.values())


_CONTAINERS: tuple[Any, ...] = (OrderedDict, dict, list, deque, set, frozenset, tuple)


def _kind_of(container: Any) -> Any:
    """Python's own class: that of the user may say something else of length and members, or refuse to."""
    return next(kind for kind in _CONTAINERS if isinstance(container, kind))


def size_of(container: Any) -> int:
    """How many members a container has, whatever its class says."""
    size: int = _kind_of(container).__len__(container)
    return size


def members_of(container: Any) -> list[Any]:
    """The members of a list, deque, set or tuple, or the keys of a dictionary, whatever its class says."""
    return list(_kind_of(container).__iter__(container))


class Slots(Table):
    """The attributes of an object that has no dictionary of them."""

    def __init__(self, path: str, name: str, live: Any) -> None:
        self.live = live
        super().__init__(path, name, live)

    def entries(self) -> dict[Any, Any]:
        names = (name for kind in type(self.live).__mro__ for name in slots_of(kind))
        return {name: getattr(self.live, name) for name in names if hasattr(self.live, name)}

    def write(self, entries: dict[Any, Any]) -> None:
        for name in self.entries().keys() - entries.keys():
            delattr(self.live, name)
        for name, value in entries.items():
            object.__setattr__(self.live, name, value)  # of frozen ones too

    def name_of(self, key: Any) -> str:
        return str(key)

    def path_of(self, key: Any) -> str:
        return f"{self.path}.{key}".lstrip(".")


def slots_of(kind: type) -> tuple[str, ...]:
    """The attributes that a class declares instead of a dictionary."""
    found = vars(kind).get("__slots__", ())
    names = (found,) if isinstance(found, str) else found
    return tuple(name for name in names if not name.startswith("__"))


class Single(Table):
    """One value that has no name of its own.

    Args:
        path, name, owner: see :class:`Table`.
        read: gives it, or raises a LookupError where there is none.
        change: puts another in its place; None where nobody can.
    """

    def __init__(
        self,
        path: str,
        name: str,
        read: Callable[[], Any],
        change: Callable[[Any], Any] | None,
        owner: Any = None,
    ) -> None:
        self._read, self._change = read, change
        super().__init__(path, name, owner)

    def entries(self) -> dict[Any, Any]:
        try:
            return {...: self._read()}
        except LookupError:
            return {}

    def write(self, entries: dict[Any, Any]) -> None:
        if entries and self._change is not None:
            self._change(entries[...])

    def path_of(self, key: Any) -> str:
        return self.path


class Elements(Single):
    """The elements of a tensor, by how often they were written; that is not undone here."""

    def __init__(self, path: str, x: torch.Tensor) -> None:
        super().__init__(path, "", lambda: None if x.is_inference() else x._version, None)


def of_context(path: str, variable: ContextVar[Any]) -> Table:
    """The value of a variable of a context."""
    return Single(path, "", variable.get, variable.set)


def of_array(path: str, name: str, array: Any, owner: Any = None) -> Table:
    """The elements of a NumPy array."""

    def change(elements: bytes) -> None:
        array[...] = type(array)(array.shape, array.dtype, elements)

    return Single(path, name, array.tobytes, change, owner)


def of_bytes(path: str, name: str, live: bytearray | array[Any], owner: Any = None) -> Table:
    """The elements of an array of Python's own, or bytes that can be written to."""

    def change(elements: bytes) -> None:
        del live[:]
        live.extend(elements) if isinstance(live, bytearray) else live.frombytes(elements)

    return Single(path, name, lambda: bytes(memoryview(live)), change, owner)


def of_memory(path: str, name: str, live: Any, owner: Any = None) -> Table:
    """Bytes that lie elsewhere: a ``memoryview`` that can be written to, a number or structure of ``ctypes``."""

    def change(elements: bytes) -> None:
        memoryview(live).cast("B")[:] = elements

    return Single(path, name, lambda: bytes(memoryview(live).cast("B")), change, owner)


def of_file(path: str, name: str, live: StringIO | BytesIO, owner: Any = None) -> Table:
    """A file in memory: what is in it, and where the next reader begins."""

    def change(state: tuple[Any, int]) -> None:
        content, place = state
        live.seek(0)
        live.truncate()
        live.write(content)
        live.seek(place)

    def read() -> tuple[Any, int]:
        if live.closed:
            raise LookupError
        return live.getvalue(), live.tell()

    return Single(path, name, read, change, owner)


def of_generator(path: str, name: str, generator: Any, owner: Any = None) -> Table:
    """The state of a generator of random numbers, Python's or NumPy's."""
    if isinstance(generator, random.Random):
        get, put = generator.getstate, generator.setstate
    else:
        # the older ones of NumPy's hide what they have their bits of
        bits = getattr(generator, "bit_generator", None) or generator._bit_generator
        get, put = partial(getattr, bits, "state"), partial(setattr, bits, "state")

    def read() -> bytes:  # of NumPy's states, which cannot be compared
        return pickle.dumps(get())

    return Single(path, name, read, lambda state: put(pickle.loads(state)), owner)


class OfTensors(Table):
    """One attribute of each of a model's tensors, which has no place that is written to.

    Args:
        attribute: ``dtype``, ``requires_grad`` or ``shape``.
        tensors: by their paths.
    """

    def __init__(self, attribute: str, tensors: Mapping[str, torch.Tensor]) -> None:
        self.tensors = dict(tensors)
        self._of = attrgetter(attribute)
        super().__init__("", attribute)
        self._values = list(self.saved.values())
        self._kinds: TensorKinds | None = None

    def is_untouched(self) -> bool:
        tensors = self.tensors.values()
        if self._kinds is not None and self._kinds.are_of(tensors):
            return True
        if list(map(self._of, tensors)) != self._values:
            return False
        self._kinds = TensorKinds.of([*tensors])
        return True

    def entries(self) -> dict[Any, Any]:
        return dict(zip(self.tensors, map(self._of, self.tensors.values()), strict=True))

    def write(self, entries: dict[Any, Any]) -> None:
        if self.name == "shape":  # which nobody sets; trials put back where tensors lie
            return
        for path, value in entries.items():
            setattr(self.tensors[path], self.name, value)

    def path_of(self, key: Any) -> str:
        return f"{key}.{self.name}"


class OfEnvironment(Table):
    """The process's environment variables, but for those whose names no code can have.

    Importing a library sets some, and a test runner sets one anew for each test. A name that is shorter than the parts
    that are looked for is one that code can have.

    Args:
        texts: that code has, which may be put together to names.
        any_case: whether it may also change the case of letters.
    """

    def __init__(self, texts: Iterable[str], any_case: bool) -> None:
        parts = sorted(re.escape(text) for text in texts if len(text) >= _SHORTEST_PART)
        self._part = re.compile("|".join(parts) or "(?!)", re.IGNORECASE if any_case else 0)
        super().__init__("os.environ", "environ")

    def entries(self) -> dict[Any, Any]:
        return {
            name: value
            for name, value in os.environ.items()
            if len(name) < _SHORTEST_PART or self._part.search(name)
        }

    def write(self, entries: dict[Any, Any]) -> None:
        for name in self.entries().keys() - entries.keys():
            del os.environ[name]
        os.environ.update(entries)


_SHORTEST_PART = 3
"""Of the name of an environment variable: characters. Shorter texts are parts of nearly every name."""


class Variable(Table):
    """A variable of a function around the function that reads it."""

    def __init__(self, name: str, cell: CellType) -> None:
        self.cell = cell
        super().__init__("", name)

    def entries(self) -> dict[Any, Any]:
        try:
            return {self.name: self.cell.cell_contents}
        except ValueError:  # it has no value yet
            return {}

    def write(self, entries: dict[Any, Any]) -> None:
        if entries:
            self.cell.cell_contents = entries[self.name]
        else:
            del self.cell.cell_contents

    def path_of(self, key: Any) -> str:
        return self.name


class OfClass(Table):
    """Attributes of a class that are numbers, texts, containers, tensors or methods.

    Args:
        kind: the class.
        names: which of them count; None means all.
    """

    def __init__(self, kind: type, names: frozenset[str] | None = None) -> None:
        self.kind = kind
        self.names = names
        super().__init__(kind.__name__, "", kind)

    @property
    def versioned(self) -> dict[Any, Any] | None:
        # what ``vars`` gives of a class is a view of its dictionary
        viewed = gc.get_referents(vars(self.kind))
        return viewed[0] if len(viewed) == 1 and type(viewed[0]) is dict else None

    def entries(self) -> dict[Any, Any]:
        return {
            name: value
            for name, value in vars(self.kind).items()
            if isinstance(value, FunctionType if name.startswith("__") else _VALUES)
            and name != "__init__"  # it has run
            and (self.names is None or name in self.names)
        }

    def write(self, entries: dict[Any, Any]) -> None:
        for name in self.entries().keys() - entries.keys():
            delattr(self.kind, name)
        for name, value in entries.items():
            setattr(self.kind, name, value)

    def name_of(self, key: Any) -> str:
        return str(key)

    def path_of(self, key: Any) -> str:
        return f"{self.path}.{key}"


_VALUES = (
    *(bool, int, float, complex, str, type(None), tuple, list, dict, set, torch.Tensor),
    *(FunctionType, property, classmethod, staticmethod),
)
