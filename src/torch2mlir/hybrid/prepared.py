"""A region in PyTorch with its weights prepared: products by oneDNN's kernels on packed weights, norms folded in.

What PyTorch's own compiler does when it freezes a model, for weights that may change: packed weights are made again
when those they come from have been written to. Activations that follow a product, and a sum with another tensor, are
done by its kernel. Of oneDNN's activations those are taken that treat NaN and infinities as PyTorch does: ``relu`` and
``hardtanh`` lose NaN there, so PyTorch's own run after the product, in its memory.

Facts about oneDNN in PyTorch 2.13: a convolution with a packed weight returns memory with the channels last, whatever
its input, and what follows keeps that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from torch2mlir.errors import EngineError
from torch2mlir.frontends.fx.shared_memory import argument_of
from torch2mlir.runtime.weights import Stamp, Watched

aten = torch.ops.aten

_LOOKS_AT_MEMORY = ("as_strided", "resize", "set_", "_reshape_alias", "view_copy.dtype")
"""Ops whose results depend on the layout of memory, which is another one here."""

_ACTIVATIONS: dict[Any, Callable[[Node], tuple[str, list[Any], str]]] = {
    aten.silu.default: lambda node: ("swish", [], ""),
    aten.hardswish.default: lambda node: ("hardswish", [], ""),
    aten.sigmoid.default: lambda node: ("sigmoid", [], ""),
    aten.tanh.default: lambda node: ("tanh", [], ""),
    aten.gelu.default: lambda node: ("gelu", [], argument_of(node, "approximate")),
    aten.leaky_relu.default: lambda node: (
        "leaky_relu",
        [argument_of(node, "negative_slope")],
        "",
    ),
}
"""What oneDNN calls an activation that it computes as PyTorch does: its name, numbers and algorithm."""

_IN_PLACE: dict[Any, Any] = {
    aten.relu.default: aten.relu_.default,
    aten.hardtanh.default: aten.hardtanh_.default,
}
"""PyTorch's own activations in the memory of what comes before."""

_NORMS = {
    aten.batch_norm.default: "training",
    aten._native_batch_norm_legit_no_training.default: None,
    aten.native_batch_norm.default: "training",
}
"""Batch norms by running statistics, and which argument says that it does not take those of the batch."""


def prepared(region: GraphModule) -> Callable[..., Sequence[Any]] | None:
    """The region with prepared weights; None if it has no product with weights, or depends on layouts of memory."""
    names = [str(node.target) for node in region.graph.nodes if node.op == "call_function"]
    if not torch.backends.mkldnn.is_available() or any(
        word in name for name in names for word in _LOOKS_AT_MEMORY
    ):
        return None
    rewritten = _Rewriting(region)
    return _Prepared(rewritten) if rewritten.products else None


Pack = Callable[[Sequence[torch.Tensor]], list[torch.Tensor]]


@dataclass(frozen=True)
class _Product:
    """A product with packed weights: the weights it comes from, and how they are packed."""

    weights: Sequence[torch.Tensor]
    pack: Pack


class _Packed(Watched):
    """The packed weights of all products, one after the other."""

    def __init__(self, products: Sequence[_Product]) -> None:
        super().__init__()
        self._products = products

    def _make(self, tensors: list[torch.Tensor], stamps: list[Stamp]) -> list[Any]:
        packed, start = list[Any](), 0
        with torch.no_grad():
            for product in self._products:
                end = start + len(product.weights)
                packed += product.pack(tensors[start:end])
                start = end
        return packed


class _Prepared:
    """A rewritten region, called as the region."""

    def __init__(self, rewritten: _Rewriting) -> None:
        self._module = GraphModule(rewritten.region, rewritten.graph)
        self._weights = [w for product in rewritten.products for w in product.weights]
        self._packed = _Packed(rewritten.products)

    def __call__(self, *args: Any) -> Sequence[Any]:
        results = self._module.forward(*args, *self._packed.of(self._weights))
        return [r.contiguous() if isinstance(r, torch.Tensor) else r for r in results]

    def refresh(self) -> None:
        """Packs all weights anew at the next call."""
        self._packed.forget()


class _Rewriting:
    """The work of ``prepared``: a copy of the region's graph that takes packed weights after its own arguments."""

    def __init__(self, region: GraphModule) -> None:
        self.region = region
        self.products = list[_Product]()
        self._packed_inputs = 0
        self.graph = Graph()
        self.graph.output(self.graph.graph_copy(region.graph, {}))
        self._last_input = next(
            (n for n in reversed(self.graph.nodes) if n.op == "placeholder"), None
        )
        self._without_dropout()
        for node in list(self.graph.nodes):
            if node.target in (aten.conv2d.default, aten.convolution.default):
                self._convolution(node)
            elif node.target in (aten.linear.default, aten.addmm.default):
                self._linear(node)
            elif node.target is aten.view.default:
                node.target = aten.reshape.default  # memory with the channels last has fewer views
        self.graph.eliminate_dead_code()

    def _without_dropout(self) -> None:
        for node in list(self.graph.nodes):
            if node.target is aten.dropout.default and argument_of(node, "train") is False:
                node.replace_all_uses_with(node.args[0])
                self.graph.erase_node(node)

    # weights

    def _weight(self, value: Any) -> torch.Tensor | None:
        """The tensor of the model that an operand is, in f32."""
        if not isinstance(value, Node) or value.op != "get_attr":
            return None
        found: Any = self.region
        for part in str(value.target).split("."):
            found = getattr(found, part)
        is_plain = isinstance(found, torch.Tensor) and found.layout is torch.strided
        return found if is_plain and found.dtype is torch.float32 else None

    def _weights(self, values: Sequence[Any]) -> list[torch.Tensor] | None:
        """The tensors that operands are, None left out; None if one of them is something else."""
        found = [self._weight(value) for value in values if value is not None]
        return None if any(tensor is None for tensor in found) else found  # type: ignore[return-value]

    def _input(self) -> Node:
        """A further argument of the graph."""
        after = self._last_input
        if after is None:
            place = self.graph.inserting_before(next(iter(self.graph.nodes)))
        else:
            place = self.graph.inserting_after(after)
        self._packed_inputs += 1
        with place:
            self._last_input = self.graph.placeholder(f"_packed_weight_{self._packed_inputs}")
        return self._last_input

    def _add(self, weights: Sequence[torch.Tensor], has_bias: bool, pack: Pack) -> list[Any]:
        """Notes a product; its packed weight and its bias in the graph."""
        self.products.append(_Product(weights, pack))
        weight = self._input()
        return [weight, self._input() if has_bias else None]

    # products

    def _convolution(self, node: Node) -> None:
        x, weight, bias = (argument_of(node, name) for name in ("input", "weight", "bias"))
        options = [argument_of(node, name) for name in ("padding", "stride", "dilation")]
        groups = argument_of(node, "groups")
        found = self._weights([weight, bias])
        known = x.meta.get("val") if isinstance(x, Node) else None
        if not found or known is None or known.dim() != 4 or known.dtype is not torch.float32:
            return
        if argument_of(node, "transposed"):
            return
        sizes = [s if isinstance(s, int) else None for s in known.shape]
        example = None if None in sizes else sizes
        last, norm, epsilon = self._norm_after(node)
        has_bias = bias is not None

        def pack(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            dense = tensors[0]
            shift = tensors[1] if has_bias else None
            if norm:
                dense, shift = _folded(dense, shift, tensors[1 + has_bias :], epsilon)
            packed = torch.ops.mkldnn._reorder_convolution_weight(
                dense.contiguous(), *options, groups, example
            )
            return [packed] if shift is None else [packed, shift]

        operands = self._add([*found, *norm], has_bias or bool(norm), pack)
        self._fuse(
            last,
            lambda attr, scalars, algorithm: (
                torch.ops.mkldnn._convolution_pointwise.default,
                (x, *operands, *options, groups, attr, scalars, algorithm),
            ),
            lambda other: (
                torch.ops.mkldnn._convolution_pointwise.binary,
                (x, other, *operands, *options, groups, "add", 1.0, None, [], None),
            ),
        )

    def _norm_after(self, node: Node) -> tuple[Node, list[torch.Tensor], float]:
        """The batch norm that alone uses a result, as its last node, its tensors and its epsilon."""
        user = _only_user(node)
        if user is None or user.target not in _NORMS or user.args[0] is not node:
            return node, [], 0.0
        flag = _NORMS[user.target]
        names = ("weight", "bias", "running_mean", "running_var")
        operands = [argument_of(user, name) for name in names]
        tensors = None if None in operands else self._weights(operands)
        if tensors is None or (flag is not None and argument_of(user, flag) is not False):
            return node, [], 0.0
        last: Node | None = user
        if user.target is not aten.batch_norm.default:
            last = _only_user(user)
            if last is None or last.target is not operator.getitem or last.args[1] != 0:
                return node, [], 0.0
        return last, tensors, float(argument_of(user, "eps"))  # type: ignore[return-value]

    def _linear(self, node: Node) -> None:
        is_addmm = node.target is aten.addmm.default
        bias, x, weight = node.args if is_addmm else (argument_of(node, "bias"), *node.args[:2])
        is_transposed = is_addmm
        if is_addmm and isinstance(weight, Node) and weight.target is aten.t.default:
            weight, is_transposed = weight.args[0], False
        scaled = is_addmm and any(argument_of(node, name) != 1 for name in ("alpha", "beta"))
        found = self._weights([weight, bias])
        known = x.meta.get("val") if isinstance(x, Node) else None
        if not found or known is None or known.dtype is not torch.float32 or scaled:
            return
        wide = found[0].shape[0 if is_transposed else 1]
        if known.dim() < 2 or 0 in found[0].shape or (bias is not None and found[1].dim() != 1):
            return
        if bias is not None and found[1].numel() != found[0].numel() // wide:
            return  # one that is broadcast
        rows = [s if isinstance(s, int) else None for s in known.shape[:-1]]
        batch = None
        if None not in rows:
            batch = int(torch.Size(rows).numel())  # type: ignore[arg-type]
            if batch == 0:
                return

        def pack(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            dense = tensors[0].t() if is_transposed else tensors[0]
            packed = torch.ops.mkldnn._reorder_linear_weight(dense.contiguous(), batch)
            return [packed, *tensors[1:]]

        operands = self._add(found, bias is not None, pack)
        linear = torch.ops.mkldnn._linear_pointwise
        self._fuse(
            node,
            lambda *activation: (linear.default, (x, *operands, *activation)),
            lambda other: (linear.binary, (x, other, *operands, "add")),
        )

    # what follows a product

    def _fuse(
        self,
        last: Node,
        alone: Callable[[str, list[Any], str], tuple[Any, tuple[Any, ...]]],
        with_sum: Callable[[Node], tuple[Any, tuple[Any, ...]]],
    ) -> None:
        """Puts a product in the place of its nodes up to ``last``, with the activation or the sum that follows."""
        user = _only_user(last)
        other = None if user is None else _summand(user, last)
        if user is not None and user.target in _ACTIVATIONS:
            call, last = alone(*_ACTIVATIONS[user.target](user)), user
        elif user is not None and other is not None:
            call, last = with_sum(other), user
        else:
            call = alone("none", [], "")
        with self.graph.inserting_before(last):
            product = self.graph.call_function(*call)
        product.meta = dict(last.meta)
        last.replace_all_uses_with(product)
        self._in_place_after(product)

    def _in_place_after(self, product: Node) -> None:
        """An activation of PyTorch's own that follows, in the product's memory."""
        user = _only_user(product)
        if user is not None and (own := _IN_PLACE.get(user.target)) is not None:
            user.target = own


def _only_user(node: Node) -> Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _summand(user: Node, product: Node) -> Node | None:
    """The tensor that a node adds to a product of the same sizes, if that is what it does."""
    if user.target is not aten.add.Tensor or argument_of(user, "alpha") != 1:
        return None
    others = [argument for argument in user.args[:2] if argument is not product]
    if len(others) != 1 or not isinstance(others[0], Node):
        return None
    mine, theirs = product.meta.get("val"), others[0].meta.get("val")
    if isinstance(mine, list | tuple):
        mine = mine[0]
    if not isinstance(theirs, torch.Tensor) or not isinstance(mine, torch.Tensor):
        return None
    is_alike = theirs.dtype is mine.dtype and list(map(str, theirs.shape)) == list(
        map(str, mine.shape)
    )
    return others[0] if is_alike else None


def _folded(
    weight: torch.Tensor, bias: torch.Tensor | None, norm: Sequence[torch.Tensor], epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """A convolution's weight and bias that give what a batch norm by running statistics makes of its result."""
    scale, shift, mean, variance = (tensor.double() for tensor in norm)
    factor = scale / torch.sqrt(variance + epsilon)
    before = torch.zeros_like(mean) if bias is None else bias.double()
    folded = (weight.double() * factor.reshape(-1, *[1] * (weight.dim() - 1))).float()
    moved = ((before - mean) * factor + shift).float()
    if not (folded.isfinite().all() and moved.isfinite().all()):
        raise EngineError("a batch norm folded into its convolution leaves the range of f32")
    return folded, moved
