"""What is in a graph, or in a captured program, as far as it decides which engine suits it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from torch2mlir.dialects.torch.types import ValueTensorType
from torch2mlir.frontends import dtypes
from torch2mlir.program import Program


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONVOLUTIONS = _names("_convolution convolution convolution_backward") | {
    f"conv{kind}{rank}d" for kind in ("", "_transpose", "_tbc") for rank in (1, 2, 3)
}
_PRODUCTS = _names("mm bmm addmm addbmm baddbmm matmul linear einsum dot mv addmv")
_RECURRENCES = _names("lstm gru rnn_tanh rnn_relu lstm_cell gru_cell")
_VIEWS = _names(
    "view reshape permute transpose t expand unsqueeze squeeze alias detach slice select flatten"
)


@dataclass(frozen=True)
class Content:
    """What is in a graph.

    Attributes:
        ops: calls on tensors, views not counted.
        floats: the dtypes of its floats and complex numbers.
        convolutions: how many ops are.
        products: matrix products, those in attention and recurrent layers too.
        attentions: attention, as one op or as a softmax between products.
        recurrences: recurrent layers.
        elements: of all its tensors, weights too, where varying sizes are as at capture if that is known, else 1.
        is_dynamic: whether sizes vary.
        is_bucketed: whether the varying sizes take a few values that are known.
        updates: whether arguments or buffers are updated in place.
        weights_vary: whether weights come with every call, so that no engine can prepare them.
    """

    ops: int = 0
    floats: frozenset[torch.dtype] = frozenset()
    convolutions: int = 0
    products: int = 0
    attentions: int = 0
    recurrences: int = 0
    elements: int = 0
    is_dynamic: bool = False
    is_bucketed: bool = False
    updates: bool = False
    weights_vary: bool = False

    @property
    def is_of_f32(self) -> bool:
        """Whether all floats are of 32 bits, if there are any."""
        return self.floats <= {torch.float32}


def content_of_graph(graph: Graph, **known: bool) -> Content:
    """What is in a graph of ATen calls with ``meta["val"]``; ``known`` are fields that it does not tell."""
    calls = [_name(node) for node in graph.nodes if _is_call(node)]
    tensors = [
        leaf
        for node in graph.nodes
        for leaf in pytree.tree_leaves(node.meta.get("val"))
        if isinstance(leaf, torch.Tensor)
    ]
    types = [(tensor.dtype, tuple(tensor.shape)) for tensor in tensors]
    is_dynamic = any(not isinstance(size, int) for _, shape in types for size in shape)
    return _content(calls, types, **{"is_dynamic": is_dynamic, **known})


def content_of_program(program: Program, **known: bool) -> Content:
    """What is in a program as it is captured."""
    signature = program.signature
    calls, values = list[str](), [item.type for item in signature.user_inputs]
    for op in program.module.walk():
        found = [r.type for r in op.results if isinstance(r.type, ValueTensorType)]
        if found and op.name.startswith(("torch.aten.", "torch.prims.")):
            calls.append(op.name.split(".")[2])
        values += found
    types = [
        (dtypes.FROM_ELEMENT_TYPE[type.dtype], tuple(type.sizes or ()))
        for type in values
        if type is not None and type.dtype in dtypes.FROM_ELEMENT_TYPE
    ]
    known = {"is_dynamic": bool(signature.ranges), "updates": bool(signature.mutations), **known}
    return _content(calls, types, **known)


def _content(
    names: Iterable[str],
    types: Iterable[tuple[torch.dtype, tuple[Any, ...]]],
    **known: bool,
) -> Content:
    count, types = Counter(names), list(types)
    products = sum(count[name] for name in _PRODUCTS)
    whole = sum(number for name, number in count.items() if "scaled_dot_product" in name)
    softmaxes = sum(count[name] for name in ("softmax", "_softmax", "_safe_softmax"))
    attentions = whole + (softmaxes if products >= 2 * softmaxes else 0)
    recurrences = sum(count[name] for name in _RECURRENCES)
    return Content(
        ops=sum(number for name, number in count.items() if name not in _VIEWS),
        floats=frozenset(d for d, _ in types if d.is_floating_point or d.is_complex),
        convolutions=sum(count[name] for name in _CONVOLUTIONS),
        products=products + whole + recurrences,
        attentions=attentions,
        recurrences=recurrences,
        elements=sum(_elements(shape) for _, shape in types),
        **known,
    )


def _elements(shape: tuple[Any, ...]) -> int:
    return prod(size if isinstance(size, int) else _hint(size) for size in shape)


def _hint(size: Any) -> int:
    """A varying size as it was at capture; 1 where nobody knows."""
    hint = size.node.hint if isinstance(size, torch.SymInt) else None
    return hint if isinstance(hint, int) else 1


def _is_call(node: Node) -> bool:
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)


def _name(node: Node) -> str:
    assert isinstance(node.target, torch._ops.OpOverload)
    return node.target._schema.name.partition("::")[2]
