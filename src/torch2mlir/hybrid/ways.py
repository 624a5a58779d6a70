"""Ways to run a cluster: a dialect and an engine for it; which are installed, and which suits a graph unmeasured."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from torch2mlir.api import engine_for
from torch2mlir.contract import element_types
from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.errors import EngineError
from torch2mlir.pipeline import Pipeline
from torch2mlir.program import Program
from torch2mlir.runtime.engine import Engine, best_dialect, get_engine

BY_PREFERENCE = ("onnxruntime", "openvino", "xla", "iree")
"""The engines to choose among. Of equally fast ones the first: it takes more programs than the second, varying sizes
unlike the third, and compiles in a tenth of the fourth's time."""

_PACKAGES = {
    "onnxruntime": ("onnx", "onnxruntime"),
    "openvino": ("onnx", "openvino"),
    "xla": ("jax",),
    "iree": ("iree.compiler", "iree.runtime"),
}


@dataclass(frozen=True)
class Way:
    """A way to run a cluster.

    Attributes:
        dialect: what it is lowered to.
        engine: who compiles that.
    """

    dialect: str
    engine: Engine

    @property
    def name(self) -> str:
        """The engine's name, which is enough: each has one dialect here."""
        return self.engine.name

    @staticmethod
    def of(engine: str | Engine, dialect: str | None = None) -> Way:
        """The way through an engine.

        Raises:
            EngineError: it is not installed, or does not take the dialect.
        """
        found = engine if isinstance(engine, Engine) else get_engine(engine)
        chosen = dialect or best_dialect(found)
        found.check_output_type(chosen)
        return Way(chosen, found)

    @staticmethod
    def default_of(dialect: str) -> Way:
        """The way through a dialect's own engine.

        Raises:
            Torch2MLIRError: the dialect cannot be run.
            EngineError: its engine is not installed.
        """
        return Way(dialect, engine_for(Pipeline.to(dialect), None))


@cache
def is_installed(name: str) -> bool:
    """Whether the packages of one of the engines to choose among are there; nothing is imported of them."""
    try:
        return all(importlib.util.find_spec(package) for package in _PACKAGES[name])
    except ModuleNotFoundError:  # a package without the parent it should be in
        return False


def installed() -> Iterator[Way]:
    """The ways through the engines that can be imported, the preferred first."""
    for name in BY_PREFERENCE:
        if is_installed(name):
            try:
                yield Way.of(name)
            except EngineError:  # a package that is there and cannot be loaded
                continue


# a choice by content

_PRODUCTS = (
    "convolution",
    "conv1d",
    "conv2d",
    "conv3d",
    "_convolution",
    "mm",
    "bmm",
    "addmm",
    "baddbmm",
    "matmul",
    "linear",
    "einsum",
    "scaled_dot_product_attention",
)


def static_choice(graph: Graph, among: Sequence[str] = BY_PREFERENCE) -> Way:
    """The way for a graph that nobody measures: ONNX Runtime for networks of products in f32, XLA for the rest.

    ONNX Runtime has the faster products and takes varying sizes as they are; element by element XLA fuses what ONNX
    Runtime computes op by op, and ONNX Runtime has few kernels for other floats. Without either, whatever is installed.

    Raises:
        EngineError: none is.
    """
    return next(_by_content(suits_onnxruntime(graph), among))


def ways_of_program(program: Program, dialect: str | None) -> list[Way]:
    """The ways for a captured program, as for a graph: the static choice, then what may take what that refuses.

    Args:
        program: as captured.
        dialect: that it goes through; None for the one each engine does most with.

    Raises:
        EngineError: no engine for them is installed.
    """
    ways = _by_content(program_suits_onnxruntime(program), BY_PREFERENCE)
    if dialect is not None:
        engines = [way.engine for way in ways]
        ways = iter([Way(dialect, each) for each in engines if dialect in each.output_types])
    found = list(dict.fromkeys(ways))
    if not found:
        raise EngineError(f"no engine for {dialect} is installed", hint="leave out output_type")
    return found


def _by_content(suits_onnxruntime: bool, among: Sequence[str]) -> Iterator[Way]:
    if suits_onnxruntime:
        order = [name for name in among if name != "openvino"]
    else:
        order = sorted(among, key=lambda name: (name != "xla", name == "openvino"))
    found = False
    for name in (*order, *among):
        if is_installed(name):
            try:
                yield Way.of(name)
                found = True
            except EngineError:
                continue
    if not found:
        yield Way.of("xla")  # which is not installed: its error tells how to install it


def ways_unmeasured(asked: Way | None, graph: Graph) -> list[Way]:
    """The way asked for; or the static choice, and XLA for what that refuses.

    Raises:
        EngineError: no engine is installed.
    """
    if asked is not None:
        return [asked]
    chosen = static_choice(graph)
    second = ["xla"] if chosen.name != "xla" and is_installed("xla") else []
    return [chosen, *map(Way.of, second)]


def check_any_installed() -> None:
    """Raises an EngineError if no engine to choose is installed."""
    if not any(map(is_installed, BY_PREFERENCE)):
        get_engine("xla")


def suits_onnxruntime(graph: Graph) -> bool:
    """Whether most of a graph's time will go into products of f32."""
    floats = {
        leaf.dtype
        for node in graph.nodes
        for leaf in pytree.tree_leaves(node.meta.get("val"))
        if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex())
    }
    return floats == {torch.float32} and any(_is_product(node) for node in graph.nodes)


def program_suits_onnxruntime(program: Program) -> bool:
    """The same of a program as it is captured."""
    floats, has_products = set[Attribute](), False
    for op in program.module.walk():
        name = op.name.removeprefix("torch.aten.").partition(".")[0]
        has_products |= name in _PRODUCTS
        types = [result.type for result in op.results]
        dtypes = [type.dtype for type in types if isinstance(type, ValueTensorType)]
        known = [dtype for dtype in dtypes if dtype is not None]
        floats.update(d for d in known if element_types.is_float(d) or element_types.is_complex(d))
    return has_products and floats == {f32}


def _is_product(node: Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return False
    return target.namespace == "aten" and target._schema.name.partition("::")[2] in _PRODUCTS
