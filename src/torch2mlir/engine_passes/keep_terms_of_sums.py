"""``keep-terms-of-sums``: a sum or product of elements that are all one number has a term for each of them.

MLIR's vectorizer combines what the body of a reduction yields once, if that does not change with the place: IREE 3.13
gives 1.0 for the sum of ``torch.ones(n)``, and 1 for that of ``x >= x``. So nothing that may fold to a number is
summed as it is: a zero that the compiler knows nothing of is added to it.

Whether all of unknown many booleans hold is decided by a false one before anybody knows that there is one: ``(x !=
x).all()`` of an empty tensor was false. These get a false that the compiler knows nothing of.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
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

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import arith_ext, linalg, tosa
from torch2mlir.dialects import stablehlo as hlo
from torch2mlir.dialects.iree_barriers import OptimizationBarrierOp
from torch2mlir.dialects.linalg.structured import dims_map
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import Beside
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
_DECIDING = ("arith.andi", "stablehlo.and")
"""Of these it matters whether there are any; a disjunction of nothing is false all the same."""
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
        *(tosa.ReduceSumOp.name, tosa.ReduceProductOp.name, tosa.ReduceAllOp.name),
    }

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        variation = _Variation()
        found = [(each, position) for each in op.walk() for position in variation.terms(each)]
        for each, position in found:
            _keep(each, position)


def _is_reduction(op: linalg.GenericOp) -> bool:
    return linalg.REDUCTION in op.iterator_types.data


def _is_kept(x: SSAValue) -> bool:
    """Whether a zero can be added to its elements, or they are booleans of which there may be none."""
    element = x.type.element_type if isinstance(x.type, TensorType) else None
    if element == i1:
        return DYNAMIC_INDEX in shape_of(x)
    if isinstance(element, IntegerType):
        return element.signedness.data == Signedness.SIGNLESS
    return isinstance(element, AnyFloat)


class _Variation:
    """Which values the compiler cannot find to be one number: what is read from memory, and what keeps that apart."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}
        self._depth = 0

    def terms(self, op: Operation) -> list[int]:
        """The operands with elements that are added or multiplied, and that may be one number."""
        match op:
            case tosa.ReduceSumOp() | tosa.ReduceProductOp() | tosa.ReduceAllOp():
                positions = [0]
            case hlo.ReduceOp() | hlo.ReduceWindowOp():
                body = op.regions[0].block.first_op
                counted = (*_COUNTED, *_DECIDING)
                positions = [0] if body is not None and body.name in counted else []
            case linalg.GenericOp() if _is_reduction(op):
                positions = self._terms_of_loops(op)
            case _ if op.name in _WINDOWS:
                positions = [0]
            case _:
                return []
        operands = op.operands
        return [i for i in positions if _is_kept(operands[i]) and not self.of(operands[i])]

    def _terms_of_loops(self, op: linalg.GenericOp) -> list[int]:
        """The inputs that what is combined with an output is computed from, if that may be one number."""
        block, count = op.body.block, len(op.inputs)
        for value in block.last_op.operands if block.last_op is not None else ():
            combine = value.owner
            if not isinstance(combine, Operation):
                continue
            if combine.name not in (*_COMBINING, *_DECIDING):
                continue
            terms = [v for v in combine.operands if v not in block.args[count:]]
            if len(terms) == 1 and not self.of(terms[0]):
                return [i for i in range(count) if block.args[i].uses]
        return []

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
    if element == i1:
        op.operands[position] = _beside_false(Beside(op), x)
        return
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


def _beside_false(before: Beside, x: SSAValue) -> SSAValue:
    """Booleans or a false that the compiler knows nothing of."""
    unknown = before.value(OptimizationBarrierOp, [before.constant(IntegerAttr(0, i1))], i1)
    return computed(before, [x], i1, lambda inside, a: inside.value(arith.OrIOp, [a, unknown], i1))
