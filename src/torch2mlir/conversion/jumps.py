"""What becomes an integer or a truth later: rounded to the neighbouring float, it becomes another one.

``torch.floor(x / 0.3)`` of 9 is 29, and 30 where 9 is multiplied with the inverse of the float next to 0.3. Dialects
without a division of floats, and engines that avoid it because it is slow, divide in earnest where a quotient jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.dialects.tensors import element_of
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch.types import AnyTensorType
from torch2mlir.dialects.torch.values import Values

Node = TypeVar("Node", bound=Hashable)


class Leading(Generic[Node]):
    """Which nodes of a graph lead to one that makes something else of the neighbouring float; each is looked at once.

    Args:
        following: the nodes that read a node.
        ends: of a node and one that it reads: whether it is such a one.
        hands_on: whether the floats that a node makes of its operands' may be exact.
    """

    def __init__(
        self,
        following: Callable[[Node], Iterable[Node]],
        ends: Callable[[Node, Node], bool],
        hands_on: Callable[[Node], bool],
    ) -> None:
        self._following, self._ends, self._hands_on = following, ends, hands_on
        self._known = dict[Node, bool]()

    def leads(self, start: Node) -> bool:
        """Whether a node does."""
        left = [start]
        while left:
            node = left[-1]
            found, unknown = False, list[Node]()
            for each in self._following(node) if node not in self._known else ():
                if self._ends(each, node) or (
                    self._hands_on(each) and self._known.get(each, False)
                ):
                    found = True
                    break
                if self._hands_on(each) and each not in self._known:
                    unknown.append(each)
            if node in self._known:
                left.pop()
            elif found or not unknown:
                self._known[left.pop()] = found
            else:
                left += unknown
        return self._known[start]


def readers(op: Operation) -> Iterable[Operation]:
    """The ops that read what an op gives."""
    return [use.operation for result in op.results for use in result.uses]


@dataclass(frozen=True)
class Jumps:
    """The ops of a dialect with which floats become something else.

    Attributes:
        roundings: round to integers, or are remainders.
        comparisons: compare two operands; zeros compare a product or quotient right however it is rounded.
        choices: choose by a truth between their last two operands: ``where(x > 0, x, 0.01 * x)`` does not jump.
        conversions: convert elements, perhaps to integers.
        exact: what they make of exact floats may be exact: sums, products, roots, logarithms, and what moves elements.
        is_zero: whether a value is the number 0.
        element: the type of a value's elements.
    """

    roundings: frozenset[str]
    comparisons: frozenset[str]
    choices: frozenset[str]
    conversions: frozenset[str]
    exact: frozenset[str]
    is_zero: Callable[[SSAValue], bool]
    element: Callable[[SSAValue], Attribute | None] = element_of

    def graph(self) -> Leading[Operation]:
        """Which ops lead to a jump, asked of one program."""
        return Leading(readers, self._ends, self.hands_on)

    def follow(self, op: Operation, graph: Leading[Operation], is_sum: bool = False) -> bool:
        """Whether the floats that an op gives become integers, or truths.

        Args:
            op: a product, a quotient or a sum.
            graph: of the program, which was asked of other ops before.
            is_sum: whether the sign of its floats depends on how they are rounded.
        """
        if is_sum:
            return graph.leads(op)
        return any(
            self._ends(each, op, False) or (self.hands_on(each) and graph.leads(each))
            for each in readers(op)
        )

    def hands_on(self, op: Operation) -> bool:
        """Whether the floats that an op makes of its operands' may be exact."""
        return op.name in self.exact or op.name in self.conversions

    def _ends(self, op: Operation, read: Operation, with_signs: bool = True) -> bool:
        if op.name in self.comparisons:
            if op.operands[0] is op.operands[1]:
                return False  # which asks for NaN
            if any(map(self.is_zero, op.operands)):
                return with_signs and not self._chooses_its_own(op)
            return True
        if op.name in self.conversions:
            return not isinstance(self.element(op.results[0]), AnyFloat)
        return op.name in self.roundings

    def _chooses_its_own(self, comparison: Operation) -> bool:
        """Whether all that a comparison with zero decides is whether a value is taken as it is."""
        value = next((x for x in comparison.operands if not self.is_zero(x)), None)
        return value is None or all(
            each.name in self.choices and any(x is value for x in each.operands[1:3])
            for each in readers(comparison)
        )


def _is_zero(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, core.ConstantOp):
        return bool(Values().of(value) == 0)
    return isinstance(op, Operation) and op.name == "torch.aten.full" and _is_zero(op.operands[1])


def _element(value: SSAValue) -> Attribute | None:
    return value.type.dtype if isinstance(value.type, AnyTensorType) else None


def ops_named(names: str, *overloads: str) -> frozenset[str]:
    """Names of core ops, each with these overloads."""
    ends = [f".{overload}" for overload in overloads] or [""]
    return frozenset(f"torch.aten.{name}{end}" for name in names.split() for end in ends)


IN_TORCH = Jumps(
    roundings=ops_named("ceil floor round sign trunc")
    | ops_named("fmod remainder", "Tensor", "Scalar")
    | ops_named("div", "Tensor_mode", "Scalar_mode"),
    choices=frozenset({"torch.aten.where.self"}),
    comparisons=ops_named("eq ge gt le lt ne", "Tensor", "Scalar"),
    conversions=frozenset({"torch.prims.convert_element_type"}),
    exact=ops_named(
        "abs amax amin cat clamp constant_pad_nd expand flip gather index_select maximum"
    )
    | ops_named("minimum neg permute relu repeat unsqueeze view")
    | ops_named("exp expm1 log log10 log1p log2 reciprocal rsqrt sqrt")
    | ops_named("pow", "Tensor_Tensor", "Tensor_Scalar", "Scalar")
    | ops_named("add div mul sub", "Tensor", "Scalar")
    | {
        *("torch.aten.clamp.Tensor", "torch.aten.index.Tensor", "torch.aten.select.int"),
        *("torch.aten.slice.Tensor", "torch.aten.squeeze.dims", "torch.aten.where.self"),
        "torch.prim.ListConstruct",
    },
    is_zero=_is_zero,
    element=_element,
)
"""The core ops."""
