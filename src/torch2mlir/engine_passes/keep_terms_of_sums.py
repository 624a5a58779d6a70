"""``keep-terms-of-sums``: a sum or product of elements that are all one number has a term for each of them.

MLIR's vectorizer combines what the body of a reduction yields once, if that does not change with the place: IREE 3.13
gives 1.0 for the sum of ``torch.ones(n)``, and 1 for that of ``x >= x``. So nothing that may fold to a number is
summed as it is: a zero that the compiler knows nothing of is added to it.

Whether all of unknown many booleans hold is decided by a false one before anybody knows that there is one, and whether
any holds by a true one: ``(x != x).all()`` of an empty tensor was false, and ``(x == x).any()`` what was in memory, for
what is combined is not what was there before any more. Such a result is only taken where there are booleans.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    i1,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import arith_ext, linalg, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.dialects.linalg.structured import dims_map
from torch2mlir.dialects.tensors import element_of, integer, integers, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import INDEX, Beside
from torch2mlir.engine_passes.loop_nests import computed
from torch2mlir.engine_passes.op_kinds import (
    BROADCASTS,
    JOINS,
    LOOKUPS,
    NUMBERS,
    RESHAPES,
    REVERSALS,
    SLICES,
    TRANSPOSES,
    is_elementwise,
)

_COMBINING = ("arith.addf", "arith.addi", "arith.mulf", "arith.muli")
_COUNTED = (*_COMBINING, "stablehlo.add", "stablehlo.multiply")
"""Of these the number of equal terms matters, unlike of maxima."""
_DECIDING = {"arith.andi": 1, "stablehlo.and": 1, "arith.ori": 0, "stablehlo.or": 0}
"""Of booleans: one element can decide, so that it matters whether there are any; and what is true of none."""
_IS_EQUAL = {"predicate": IntegerAttr(0, 64)}
_OF_NONE = {tosa.ReduceAllOp.name: 1, tosa.ReduceAnyOp.name: 0}
_WINDOWS = frozenset(
    f"linalg.pooling_{layout}_sum" for layout in ("ncw", "nwc", "nchw", "nhwc", "ndhwc")
)
"""Average pooling: they add up windows."""
_MOVED = RESHAPES | SLICES | TRANSPOSES | BROADCASTS | REVERSALS | LOOKUPS
"""Ops whose result has elements of the first operand and no others, wherever they take them from."""
_CASTS = {
    *("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui"),
    *("arith.fptosi", "arith.fptoui", "tosa.cast", "stablehlo.convert"),
}
_SHIFTS = {
    *("arith.addi", "arith.subi", "arith.xori", "tosa.add", "tosa.sub"),
    *("stablehlo.add", "stablehlo.subtract"),
}
"""Of integers: one with a number varies, and of two nothing is known."""
_COMPARISONS = {
    *("arith.cmpf", "tosa.equal", "tosa.greater", "tosa.greater_equal", "stablehlo.compare"),
}
_CHOICES = ("arith.select", "tosa.select", "stablehlo.select")
_DEEPEST = 200
"""So many ops are looked through; of what is further away nothing is known."""


class KeepTermsOfSumsPass(PassForOps):
    """See the module's docstring."""

    name = "keep-terms-of-sums"
    looks_for = _WINDOWS | {
        *(linalg.GenericOp.name, hlo.ReduceOp.name, hlo.ReduceWindowOp.name),
        *(tosa.ReduceSumOp.name, tosa.ReduceProductOp.name, *_OF_NONE),
    }

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        variation = _Variation()
        found = [(each, position) for each in op.walk() for position in variation.terms(each)]
        deciding = [each for each in op.walk() if variation.may_decide(each)]
        for each, position in found:
            _keep(each, position)
        for each in deciding:
            _take_where_there_are_booleans(each)


def _is_reduction(op: linalg.GenericOp) -> bool:
    return linalg.REDUCTION in op.iterator_types.data


def _is_kept(x: SSAValue) -> bool:
    """Whether a zero can be added to its elements."""
    element = x.type.element_type if isinstance(x.type, TensorType) else None
    if isinstance(element, IntegerType):
        return element != i1 and element.signedness.data == Signedness.SIGNLESS
    return isinstance(element, AnyFloat)


class _Variation:
    """Which values the compiler cannot find to be one number: what is read from memory, and what keeps that apart."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}
        self._depth = 0

    def terms(self, op: Operation) -> list[int]:
        """The operands with elements that are added or multiplied, and that may be one number."""
        match op:
            case tosa.ReduceSumOp() | tosa.ReduceProductOp():
                positions = [0]
            case hlo.ReduceOp() | hlo.ReduceWindowOp():
                body = op.regions[0].block.first_op
                positions = [0] if body is not None and body.name in _COUNTED else []
            case linalg.GenericOp() if _is_reduction(op):
                count, terms = len(op.inputs), self._terms_of_loops(op, _COMBINING)
                used = [i for i in range(count) if op.body.block.args[i].uses]
                positions = used if any(not self.of(term) for term in terms) else []
            case _ if op.name in _WINDOWS:
                positions = [0]
            case _:
                return []
        operands = op.operands
        return [i for i in positions if _is_kept(operands[i]) and not self.of(operands[i])]

    def may_decide(self, op: Operation) -> bool:
        """Whether it asks if all or any of booleans hold that may be one to the compiler."""
        match op:
            case tosa.ReduceAllOp() | tosa.ReduceAnyOp():
                return not self.of(op.operands[0])
            case hlo.ReduceOp():
                body = op.regions[0].block.first_op
                decides = body is not None and body.name in _DECIDING
                return decides and not self.of(op.operands[0])
            case linalg.GenericOp() if _is_reduction(op):
                return any(not self.of(term) for term in self._terms_of_loops(op, _DECIDING))
        return False

    def _terms_of_loops(self, op: linalg.GenericOp, words: Container[str]) -> list[SSAValue]:
        """What ops of these names combine with an output."""
        block, terms = op.body.block, list[SSAValue]()
        for value in block.last_op.operands if block.last_op is not None else ():
            combine = value.owner
            if isinstance(combine, Operation) and combine.name in words:
                found = [v for v in combine.operands if v not in block.args[len(op.inputs) :]]
                terms += found if len(found) == 1 else []
        return terms

    def of(self, value: SSAValue) -> bool:
        """Follows tensors to the ops that make them, and elements in the bodies of loops to the tensors."""
        if value not in self._known:
            self._depth += 1
            self._known[value] = self._depth < _DEEPEST and self._of(value)
            self._depth -= 1
        return self._known[value]

    def _of(self, value: SSAValue) -> bool:
        op = value.owner
        if isinstance(op, Block):
            nest = op.parent_op()
            if isinstance(nest, linalg.GenericOp):
                return self.of(nest.operands[op.args.index(value)])
            return True
        if isinstance(op, arith.ConstantOp | tosa.ConstOp | hlo.ConstantOp):
            literal = op.properties.get("values", op.properties.get("value"))
            is_splat = isinstance(literal, DenseIntOrFPElementsAttr) and literal.is_splat()
            return isinstance(value.type, TensorType) and not is_splat
        if op.name in NUMBERS:
            return False
        if isinstance(op, linalg.GenericOp):
            end, place = op.body.block.last_op, op.results.index(value)
            return _is_reduction(op) or end is None or self.of(end.operands[place])
        if op.name in _MOVED:
            return self.of(op.operands[0])
        if op.name in JOINS:
            return any(self.of(x) for x in op.operands if _is_data(x))
        # what reads elements from memory folds to no number
        return not is_elementwise(op.name) or self._of_elements(op)

    def _of_elements(self, op: Operation) -> bool:
        """The same of an op that computes each element from corresponding ones."""
        operands = [x for x in op.operands if _is_data(x)]
        if op.name in _CHOICES:
            return all(self.of(x) for x in operands[1:])
        found = [self.of(x) for x in operands]
        if _is_float(op.results[0]) or op.name in _CASTS:
            return any(found)
        if op.name in _COMPARISONS:
            return any(found) and _is_float(operands[0])
        return op.name in _SHIFTS and found.count(True) == 1


def _is_data(x: SSAValue) -> bool:
    """Whether it has elements: sizes of TOSA have not."""
    return x.owner.name != "tosa.const_shape" if isinstance(x.owner, Operation) else True


def _is_float(x: SSAValue) -> bool:
    element = x.type.element_type if isinstance(x.type, TensorType) else x.type
    return isinstance(element, AnyFloat)


def _keep(op: Operation, position: int) -> None:
    """Adds a zero, the one that leaves zeros their sign."""
    x = op.operands[position]
    element, rank = element_of(x), len(shape_of(x))
    is_float = isinstance(element, AnyFloat)
    scalar = TensorType(element, [])
    before = Beside(op)
    zero = dense_elements(scalar, [-0.0 if is_float else 0])
    unknown = before.value(OptimizationBarrierOp, [before.constant(zero)], scalar)
    block = Block(arg_types=[element, element])
    properties: dict[str, Attribute] = (
        {"fastmath": arith_ext.NO_FLAGS}
        if is_float
        else {"overflowFlags": arith.IntegerOverflowAttr("none")}
    )
    total = (arith.AddfOp if is_float else arith.AddiOp).create(
        operands=[block.args[1], block.args[0]],
        result_types=[element],
        properties=properties,
        location=op.location,
    )
    block.add_ops([total, linalg.YieldOp(total.results[0])])
    maps = [dims_map(rank, ()), dims_map(rank, tuple(range(rank)))]
    kinds = ArrayAttr([IteratorTypeAttr.parallel()] * rank)
    # what it computes into is the tensor itself, so that its sizes need not be known
    sums = before.insert(linalg.GenericOp.of([unknown], [x], block, ArrayAttr(maps), kinds))
    op.operands[position] = sums.results[0]


def _take_where_there_are_booleans(op: Operation) -> None:
    """Has users of a conjunction or disjunction take what is true of none where there are none."""
    after = Beside(op, behind=True)
    unknown = [(x, axis) for x, axis in _combined(op) if shape_of(x)[axis] == DYNAMIC_INDEX]
    sizes = [after.value(tensor.DimOp, [x, after.index(axis)], INDEX) for x, axis in unknown]
    for result, of_none in zip(op.results, _of_none(op)):
        users = tuple(result.uses)
        if of_none is not None and sizes and users:
            found = _unless_none(after, sizes, result, of_none)
            for use in users:
                use.operation.operands[use.index] = found


def _unless_none(
    after: Beside, sizes: Sequence[SSAValue], result: SSAValue, of_none: int
) -> SSAValue:
    """A result, or what is true of none where one of the sizes is 0."""
    there_are_none = after.constant(IntegerAttr(0, i1))
    for size in sizes:
        is_none = after.value(arith.CmpiOp, [size, after.index(0)], i1, _IS_EQUAL)
        there_are_none = after.value(arith.OrIOp, [there_are_none, is_none], i1)
    neutral = after.constant(IntegerAttr(of_none, i1))
    return computed(
        after,
        [result],
        i1,
        lambda inside, a: inside.value(arith.SelectOp, [there_are_none, neutral, a], i1),
    )


def _of_none(op: Operation) -> Sequence[int | None]:
    """Of each result, what it is if nothing is combined; None where nobody is asked whether all or any holds."""
    if op.name in _OF_NONE:
        return [_OF_NONE[op.name]]
    block = op.regions[0].block
    combined = block.last_op.operands if block.last_op is not None else ()
    return [
        _DECIDING.get(each.owner.name)
        if each.type == i1 and isinstance(each.owner, Operation)
        else None
        for each in combined
    ]


def _combined(op: Operation) -> Sequence[tuple[SSAValue, int]]:
    """The dimensions along which elements are combined, each of an operand."""
    if isinstance(op, hlo.ReduceOp):
        return [(op.operands[0], axis) for axis in integers(op.properties["dimensions"])]
    if not isinstance(op, linalg.GenericOp):
        return [(op.operands[0], integer(op.properties["axis"]))]
    kinds = op.iterator_types.data
    return [
        (x, axis)
        for x, map in zip(op.inputs, op.indexing_maps.data)
        for axis, loop in enumerate(map.data.results)
        if isinstance(loop, AffineDimExpr) and kinds[loop.position] == linalg.REDUCTION
    ]
