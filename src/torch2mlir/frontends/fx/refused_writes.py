"""Writes that no value can be made of: to tensors several of whose elements are one place of memory, and of memory."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._library.utils import is_builtin
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true, sym_eq
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import FileLineColLoc

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.locations import of_node
from torch2mlir.frontends.fx.refused_dtypes import refused_call
from torch2mlir.frontends.memory import storage_of

_MAY_HAVE_DATA_OF = torch.ops.aten._has_compatible_shallow_copy_type.default
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd


def check_writes(graph: Graph) -> None:
    """Refuses writes to what ``expand``, ``unfold`` and ``as_strided`` give, and by operators of the user's.

    Parts of that are such tensors too; of what ``as_strided`` gives, those whose elements share places are. An
    ``expand`` that gives no more elements is said as another view by :func:`functionalized`.

    Eager mode refuses most of the first, ``masked_fill_`` and ``index_put_`` are deprecated there. PyTorch's
    functionalization adds up what is written to one place: a part that is one of each place, ``x.expand(2, 4)[0]``,
    becomes its old elements and the difference, NaN where they were infinite. It makes what no window covers zero, and
    goes on with the number of a constant that a user's operator has written to.

    Raises:
        CaptureError: the graph has such a write, or one of a dtype that PyTorch refuses.
    """
    windows = dict[Node, Node]()
    expanded = set[Node]()
    for node in graph.nodes:
        operand = operand_taken(node)
        inputs = node.all_input_nodes if operand is None else [operand]
        sources = [source for source in inputs if source in expanded]
        if _gives_expanded(node) or any(_share_memory(node, source) for source in sources):
            expanded.add(node)
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        refused = refused_call(node.target._opname, node, "val", _line_of(node))
        if refused is not None:
            raise refused
        if _is_users_write(node.target):
            raise user_write(node.target, _line_of(node))
        if node.target is torch.ops.aten.unfold.default:
            windows[node] = node
        for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
            if argument.alias_info is not None and isinstance(value, Node) and value in windows:
                if not argument.alias_info.is_write:
                    windows[node] = windows[value]
                    continue
                raise write_to_windows(_line_of(node))
        for value in writes_elements_of(node.target, node.args, node.kwargs):
            if not expanded.isdisjoint(pytree.tree_leaves(value)):
                raise write_to_expanded(str(node.target), _line_of(node))


def _gives_expanded(node: Node) -> bool:
    if node.target in EXPANDING:
        return not expands_nothing(node)
    if node.target in _EXPANDING_LISTS:
        operands = [n.meta["val"] for n in _operands_of(node)]
        return not all(map(_have_same_sizes, operands, node.meta["val"]))
    return overlaps_itself(
        node.meta.get("val"), is_strided=node.target is torch.ops.aten.as_strided.default
    )


EXPANDING = (
    torch.ops.aten.expand.default,
    torch.ops.aten.expand_as.default,
    torch.ops.aten.broadcast_to.default,
)
_EXPANDING_LISTS = (
    torch.ops.aten.broadcast_tensors.default,
    torch.ops.aten.meshgrid.default,
    torch.ops.aten.meshgrid.indexing,
)


def expands_nothing(node: Node) -> bool:
    """Whether a call of ``expand`` gives the elements of its operand, with dimensions of 1 before the others or not."""
    source, result = (n.meta.get("val") for n in (node.args[0], node) if isinstance(n, Node))
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    new = result.dim() - source.dim()
    return all(isinstance(size, int) and size == 1 for size in result.shape[:new]) and all(
        statically_known_true(size == before)
        for size, before in zip(result.shape[new:], source.shape, strict=True)
    )


def operand_taken(node: Node) -> Node | None:
    """The tensor that ``broadcast_tensors(..)[i]`` or ``meshgrid(..)[i]`` is, where its sizes stay as they are."""
    expansion = node.args[0] if node.target is operator.getitem else None
    if not isinstance(expansion, Node) or expansion.target not in _EXPANDING_LISTS:
        return None
    operand = _operands_of(expansion)[node.args[1]]  # type: ignore[index]
    return operand if _have_same_sizes(operand.meta["val"], node.meta["val"]) else None


def _have_same_sizes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors have them for certain: elements may decide sizes."""
    return one.dim() == other.dim() and all(
        statically_known_true(a == b) for a, b in zip(one.shape, other.shape, strict=True)
    )


def _operands_of(expansion: Node) -> list[Node]:
    """The tensors that ``broadcast_tensors`` or ``meshgrid`` takes, each as often as it stands there."""
    return pytree.tree_leaves(expansion.args[0])


def check_memory(graph: Graph) -> None:
    """Refuses ``set_``, ``w.data = ..`` and, of what the program is given or holds, ``squeeze_``, ``t_`` and resizing.

    PyTorch's functionalization may end the process at the one. Of the other, its tracing keeps the question whether it
    is allowed only, and goes on with the tensor as it was. The others change the sizes of the caller's own tensor; an
    op does that to what it is given as ``out`` if its result has other sizes.

    Raises:
        CaptureError: the graph gives a tensor other memory, or its caller's other sizes.
    """
    given = set(graph.find_nodes(op="placeholder"))
    for node in graph.nodes:
        is_given = node.target is _MAY_HAVE_DATA_OF and node.args[0] is not node.args[1]
        if is_given or getattr(node.target, "overloadpacket", None) is torch.ops.aten.set_:
            raise CaptureError(
                "the program gives a tensor other memory, which PyTorch cannot express as a value",
                op="aten.set_",
                location=_line_of(node),
                hint="write into the tensor, w.copy_(..) for w.data = ..",
            )
        if _changes_first(node.target) and node.args[0] in given:
            given.add(node)
            _check_sizes_kept(node)
        _check_not_resized(node, given)


def _changes_first(target: Any) -> bool:
    """Whether an op changes its first operand, a tensor, and gives it back."""
    if not isinstance(target, torch._ops.OpOverload) or not target._schema.arguments:
        return False
    first = target._schema.arguments[0]
    is_written = first.alias_info is not None and first.alias_info.is_write
    return is_written and isinstance(first.type, torch.TensorType)


def _check_sizes_kept(node: Node) -> None:
    target: Any = node.target
    if torch.Tag.inplace_view in target.tags and target is not torch.ops.aten.detach_.default:
        name = target._schema.name.split("::")[-1]
        raise CaptureError(
            f"the program changes the sizes of a tensor that it is given or holds, by {name}, which no compiled "
            "program does",
            op=f"aten.{name}",
            location=_line_of(node),
            hint=f"make another tensor: y = x.{name.rstrip('_')}(..)",
        )


def _check_not_resized(node: Node, given: Collection[Node]) -> None:
    """That an op whose result goes where ``out`` says fills what is there."""
    target: Any = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return
    names = [argument.name for argument in target._schema.arguments if argument.is_out]
    results = pytree.tree_leaves(node.meta.get("val"))
    for name, result in zip(names, results, strict=False):
        out = node.kwargs.get(name)
        there = out.meta.get("val") if isinstance(out, Node) and out in given else None
        if not isinstance(there, torch.Tensor) or not isinstance(result, torch.Tensor):
            continue
        if not statically_known_true(sym_eq(there.shape, result.shape)):
            raise CaptureError(
                f"the program changes the sizes of a tensor that it is given or holds: {name}= has the sizes "
                f"{list(there.shape)}, and the result {list(result.shape)}",
                op=str(target),
                location=_line_of(node),
                hint=f"give {name}= a tensor of the result's sizes, or return a new one",
            )


def write_to_expanded(op: str, location: str | None = None) -> CaptureError:
    """That a tensor is written to that ``expand`` or ``as_strided`` gave, several of whose elements are one."""
    return CaptureError(
        "the program writes to a tensor several of whose elements are one place of memory",
        op=op,
        location=location,
        hint="expand(..), as_strided(..) or an op that expands has made it: copy it first, x.expand(..).clone()",
    )


def write_to_windows(location: str | None = None) -> CaptureError:
    """That a tensor is written to of which ``unfold`` gave windows, or by one of these."""
    return CaptureError(
        "the program writes into windows of a tensor, which PyTorch cannot express as values",
        op="aten.unfold",
        location=location,
        hint="write into slices of the tensor, x[:, k : k + size]",
    )


def user_write(op: object, location: str | None = None) -> CaptureError:
    """That an operator of the user's writes to what it is given."""
    return CaptureError(
        f"the operator '{op}' writes to its arguments",
        location=location,
        hint="values have no memory: define an operator that returns the new value, and use that (or copy_ it)",
    )


def _is_users_write(op: torch._ops.OpOverload) -> bool:
    is_composite = op.has_kernel_for_dispatch_key(_COMPOSITE)
    return op._schema.is_mutable and not is_composite and not is_builtin(op)


def writes_elements_of(
    op: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[Any]:
    """The arguments whose elements a call writes; ``unsqueeze_`` writes none."""
    if torch.Tag.inplace_view in op.tags:
        return
    for place, argument in enumerate(op._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            yield args[place] if place < len(args) else kwargs.get(argument.name)


def _share_memory(one: Node, other: Node) -> bool:
    """Whether tensors that two nodes give are in the same memory."""
    memory = [{storage_of(t) for t in tensors_in(node.meta.get("val"))} for node in (one, other)]
    return not memory[0].isdisjoint(memory[1])


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors of a result, which may be a list of them."""
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def overlaps_itself(value: object, is_strided: bool = False) -> bool:
    """Whether several elements of a tensor are one place of memory.

    Args:
        value: anything; what is no tensor does not.
        is_strided: whether ``as_strided`` has made it. Then sizes that vary have to be known to keep elements apart;
            of other tensors, with them, only those with a stride of 0 do not.
    """
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    if any(isinstance(size, int) and size == 0 for size in value.shape):
        return False
    steps = [
        (stride, size)
        for stride, size in zip(value.stride(), value.shape, strict=True)
        if not isinstance(size, int) or size > 1
    ]
    if any(isinstance(stride, int) and stride == 0 for stride, _ in steps):
        return True
    varies = any(isinstance(number, torch.SymInt) for step in steps for number in step)
    if varies and not is_strided:
        return False
    reach: Any = 0
    for stride, size in steps[::-1] if varies else sorted(steps):
        if not statically_known_true(stride > reach):
            return True
        reach = reach + stride * (size - 1)
    return False


def _line_of(node: Node) -> str | None:
    place = of_node(node.meta)
    if isinstance(place, FileLineColLoc):
        return f"{place.filename.data}:{place.line.data}"
    return None
