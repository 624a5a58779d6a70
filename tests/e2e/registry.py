"""The registry of end-to-end cases: a program, its inputs, and which of their sizes may vary.

A case is registered once and runs on every configuration (``configurations.py``), with static and
with dynamic shapes, against eager PyTorch.

    case("exp", torch.exp, f32("B", 3))
    case("linear", nn.Linear, f32("B", 4), init=(4, 8))
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import torch
from torch import nn
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from tests.e2e.zeros import signs_are_defined

Size = int | str | tuple[str, Callable[[Any], Any]]
"""A size: fixed, a name for one that may vary, or a formula of one (``("B", lambda b: 2 * b)``)."""
Which = int | Mapping[str, int]
"""Which sizes the named dimensions have: the first or the second of ``SIZES``, or the first but for some by name."""

SIZES: dict[str, tuple[int, int]] = {
    "B": (3, 5),
    "S": (4, 7),
    "T": (6, 2),
    "N": (5, 4),
    "H": (8, 11),
    "W": (7, 10),
    "L": (3000, 1025),
}
"""The two sizes a named dimension takes; the first is the static one and the example at capture."""


@dataclass(frozen=True)
class Input:
    """A tensor argument: its dtype, sizes, and how its elements are drawn.

    Attributes:
        dtype: of the tensor.
        shape: sizes, names of those that may vary; equal names are equal sizes.
        low: lowest element; floats are normally distributed unless both bounds are given.
        high: integers stay below it.
        values: elements to take in turn instead of random ones; another call starts at another one.
        fixed: every call starts at the first of ``values``, whose order has a meaning.
    """

    dtype: torch.dtype
    shape: tuple[Size, ...]
    low: float | None = None
    high: float | None = None
    values: Sequence[Any] | None = None
    fixed: bool = False

    def tensor(self, which: Which, draw: int, generator: torch.Generator) -> torch.Tensor:
        """The tensor at the ``which``-th sizes, for the ``draw``-th values."""
        sizes = [resolved(size, which) for size in self.shape]
        if self.values is not None:
            count = int(torch.Size(sizes).numel())
            first = 0 if self.fixed else draw % len(self.values)
            elements = (list(self.values) * (count // len(self.values) + 2))[first : first + count]
            return torch.tensor(elements, dtype=self.dtype).reshape(sizes)
        return _random(self, sizes, generator)

    def dynamic(self, least: int | None = None) -> dict[int, Any] | None:
        """The dimensions that may vary, as ``torch.export`` takes them: from ``least`` on, or from their smaller size."""
        named = {
            i: _dim(size, least) for i, size in enumerate(self.shape) if not isinstance(size, int)
        }
        return named or None


def _dim(size: str | tuple[str, Callable[[Any], Any]], least: int | None) -> Any:
    if isinstance(size, str):
        return Dim(size, min=min(SIZES[size]) if least is None else least)
    name, formula = size
    return formula(_dim(name, least))


def resolved(size: Size, which: Which) -> int:
    """A size as a number, see ``Which``."""
    if isinstance(size, int):
        return size
    if isinstance(size, tuple):
        name, formula = size
        return formula(resolved(name, which))
    return SIZES[size][which] if isinstance(which, int) else which.get(size, SIZES[size][0])


def _random(spec: Input, sizes: list[int], generator: torch.Generator) -> torch.Tensor:
    dtype = spec.dtype
    if dtype is torch.bool:
        return torch.randint(0, 2, sizes, generator=generator).bool()
    if dtype.is_floating_point or dtype.is_complex:
        if spec.low is None or spec.high is None:
            drawn = torch.randn(sizes, generator=generator, dtype=_wide(dtype))
        else:
            drawn = torch.empty(sizes, dtype=_wide(dtype))
            drawn.uniform_(spec.low, spec.high, generator=generator)
        return drawn.to(dtype)
    default = 0 if dtype is torch.uint8 else -6
    low = default if spec.low is None else int(spec.low)
    high = 10 if spec.high is None else int(spec.high)
    return torch.randint(low, high, sizes, generator=generator).to(dtype)


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.complex128 if dtype.is_complex else torch.float64


def tensor(dtype: torch.dtype, *shape: Size, **drawn: Any) -> Input:
    """A tensor argument; see :class:`Input` for the keywords."""
    return Input(dtype, shape, **drawn)


f32 = partial(tensor, torch.float32)
f64 = partial(tensor, torch.float64)
f16 = partial(tensor, torch.float16)
bf16 = partial(tensor, torch.bfloat16)
i64 = partial(tensor, torch.int64)
i32 = partial(tensor, torch.int32)
i16 = partial(tensor, torch.int16)
i8 = partial(tensor, torch.int8)
u8 = partial(tensor, torch.uint8)
b1 = partial(tensor, torch.bool)
c64 = partial(tensor, torch.complex64)


@dataclass(frozen=True)
class Case:
    """A registered program.

    Attributes:
        name: unique, readable.
        family: the file it is registered in.
        program: a function, or a module class.
        inputs: a pytree of :class:`Input` and of constants, the positional arguments.
        kwargs: the same by keyword, for a module class.
        init: arguments of the module class.
        loose: factor on the dtype's tolerance, for long sums.
        dynamic: whether it also runs with dynamic shapes.
    """

    name: str
    family: str
    program: Any
    inputs: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    init: tuple[Any, ...] = ()
    loose: float = 1.0
    dynamic: bool = True

    @property
    def signed_zeros(self) -> bool:
        """Whether the sign of a zero is compared."""
        return signs_are_defined(self.name)

    def model(self) -> nn.Module:
        """The program as a module, the same at every call."""
        if not (isinstance(self.program, type) and issubclass(self.program, nn.Module)):
            return _Function(self.program)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(zlib.crc32(self.name.encode()))
            return self.program(*self.init).eval()

    @property
    def names(self) -> list[str]:
        """Of the sizes that may vary."""
        leaves = pytree.tree_leaves((self.inputs, dict(self.kwargs)))
        sizes = [size for leaf in leaves if isinstance(leaf, Input) for size in leaf.shape]
        named = [size[0] if isinstance(size, tuple) else size for size in sizes]
        return list(dict.fromkeys(name for name in named if isinstance(name, str)))

    def arguments(self, which: Which = 0, draw: int = 0) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Fresh arguments at the ``which``-th sizes; the ``draw``-th values for them."""
        turn = which if isinstance(which, int) else 0
        seed = zlib.crc32(self.name.encode()) + turn + 1000 * draw
        generator = torch.Generator().manual_seed(seed)

        def drawn(spec: Any) -> Any:
            return spec.tensor(which, draw, generator) if isinstance(spec, Input) else spec

        return pytree.tree_map(drawn, (self.inputs, dict(self.kwargs)))

    def calls(self, dynamic: bool) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """The arguments of three calls: other values at the second, and other sizes where they may vary."""
        return [self.arguments(0), self.arguments(int(dynamic), 1), self.arguments(0)]

    def export(
        self, dynamic: bool, least: int | None = None, which: Which = 0
    ) -> torch.export.ExportedProgram:
        """The program as PyTorch captures it, for sizes from ``least`` on if they vary, with ``which`` as an example."""
        args, kwargs = self.arguments(which)
        shapes = self.dynamic_shapes(least) if dynamic else None
        model = self.model()
        if isinstance(self.program, Gradient):
            model = self.program.graph(args, dynamic)
            shapes = shapes and shapes[0]
        torch._dynamo.reset()  # sizes that vary would be asked the guards of what it has compiled before
        with torch.no_grad():
            return torch.export.export(model, args, kwargs, dynamic_shapes=shapes)

    def exported(
        self, dynamic: bool, least: int | None = None, which: Which = 0
    ) -> torch.export.ExportedProgram:
        """As :meth:`export`, and captured once for all the targets that take it one after the other."""
        key = which if isinstance(which, int) else tuple(which.items())
        program = _exported(self.name, dynamic, least, key)
        # its buffers are the program's own, and a call may change them
        return deepcopy(program) if program.graph_signature.buffers else program

    def dynamic_shapes(self, least: int | None = None) -> Any:
        """What may vary, in the form ``torch.export`` takes."""

        def varying(spec: Any) -> Any:
            return spec.dynamic(least) if isinstance(spec, Input) else None

        args, kwargs = pytree.tree_map(varying, (self.inputs, dict(self.kwargs)))
        return (*args, *kwargs.values()) if isinstance(self.program, type) else (args,)


@lru_cache(maxsize=8)
def _exported(
    name: str, dynamic: bool, least: int | None, which: int | tuple[tuple[str, int], ...]
) -> torch.export.ExportedProgram:
    return CASES[name].export(dynamic, least, which if isinstance(which, int) else dict(which))


class _Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Gradient:
    """A program with its gradients, in the ops that AOTAutograd would capture; see :func:`gradient_of`."""

    def __init__(self, program: Callable[..., Any]) -> None:
        self.program = program

    def __call__(self, *args: torch.Tensor) -> tuple[Any, Any]:
        """The outputs, and what they give back to every float input when they are given themselves."""
        with torch.enable_grad():
            leaves = [arg.detach().requires_grad_(arg.is_floating_point()) for arg in args]
            outputs = self.program(*leaves)
            tensors = [out for out in pytree.tree_leaves(outputs) if out.requires_grad]
            inputs = [leaf for leaf in leaves if leaf.requires_grad]
            backward = [out.detach() for out in tensors]
            gradients = torch.autograd.grad(tensors, inputs, backward, allow_unused=True)
        zeros = torch.zeros_like
        return pytree.tree_map(torch.Tensor.detach, outputs), tuple(
            zeros(leaf) if gradient is None else gradient.detach()
            for leaf, gradient in zip(inputs, gradients, strict=True)
        )

    def graph(self, args: tuple[Any, ...], dynamic: bool) -> torch.fx.GraphModule:
        """The aten ops of both directions, as ``torch.export`` takes them again."""
        graph: torch.fx.GraphModule = make_fx(self, tracing_mode="symbolic" if dynamic else "fake")(
            *args
        )
        return graph


def gradient_of(program: Callable[..., Any]) -> Gradient:
    """The program with gradients of all its float inputs, for a case:

    case("gradient_of_sin", gradient_of(torch.sin), f32("B", 4))
    """
    return Gradient(program)


CASES: dict[str, Case] = {}
_family = ""


def case(
    name: str,
    program: Any,
    *inputs: Any,
    kwargs: Mapping[str, Any] | None = None,
    init: tuple[Any, ...] = (),
    loose: float = 1.0,
) -> None:
    """Registers a program with its arguments; it runs dynamically if a size has a name."""
    if name in CASES:
        raise ValueError(f"two cases are called {name!r}")
    leaves = pytree.tree_leaves((inputs, kwargs or {}))
    dynamic = any(isinstance(leaf, Input) and leaf.dynamic() for leaf in leaves)
    CASES[name] = Case(name, _family, program, inputs, kwargs or {}, init, loose, dynamic)


def program(*inputs: Any, **options: Any) -> Callable[[Any], Any]:
    """Decorator form of :func:`case`; the case has the function's (or the class's) name."""

    def register(function: Any) -> Any:
        name = function.__name__
        name = "".join("_" + c.lower() if c.isupper() else c for c in name).removeprefix("_")
        case(name, function, *inputs, **options)
        return function

    return register


def load_cases() -> dict[str, Case]:
    """All cases, by name; the families are the files of ``cases/``."""
    global _family
    package = import_module("tests.e2e.cases")
    for module in sorted(iter_modules(package.__path__), key=lambda m: m.name):
        _family = module.name
        import_module(f"tests.e2e.cases.{module.name}")
    return CASES
