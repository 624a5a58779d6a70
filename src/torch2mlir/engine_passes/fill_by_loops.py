"""``fill-by-loops``: what holds one number, in memory of any alignment, is computed instead of filled.

IREE 3.13 fills memory by a command that wants it aligned to the number. In programs with unknown sizes tensors follow
each other byte by byte (:mod:`torch2mlir.runtime.iree` says why), and one behind an odd number of booleans is not
aligned: every call of ``x > 0, torch.ones(x.shape[0])`` was refused. So a zero that the compiler knows nothing of is
added to what would be filled. What is padded is padded with zeros, whose bytes are equal, between two loops that
exchange zero and the number.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects import linalg, tosa
from torch2mlir.dialects.tensors import element_of, tensor_type
from torch2mlir.dialects.weights import dense_elements
from torch2mlir.engine_passes.beside import Beside
from torch2mlir.engine_passes.keep_terms_of_sums import MOVED, Variation, can_add, plus_nothing
from torch2mlir.engine_passes.loop_nests import loop_nest

_INTO_MEMORY = {
    *(func.ReturnOp.name, scf.ForOp.name, scf.IfOp.name, scf.WhileOp.name, scf.YieldOp.name),
    *("scf.condition", "tensor.concat", "tensor.extract", "tensor.insert", "tensor.insert_slice"),
    *("tensor.scatter", "iree_linalg_ext.scatter", "iree_linalg_ext.sort", "iree_linalg_ext.scan"),
    *(
        "tosa.concat",
        "tosa.gather",
        "tosa.scatter",
        "tosa.while_loop",
        "tosa.cond_if",
        "tosa.yield",
    ),
}
"""Ops whose operands have to be in memory; the others have a number where it is read."""
_FILLS = frozenset({"arith.constant", "linalg.fill", "tensor.pad", "tensor.splat"})


class FillByLoopsPass(PassForOps):
    """See the module's docstring."""

    name = "fill-by-loops"
    looks_for = _FILLS | {tosa.ConstOp.name, tosa.PadOp.name}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = list(op.walk())
        if not any(map(_has_unknown_size, ops)):
            return
        variation, computed = Variation(), dict[SSAValue, SSAValue]()
        for each in ops:
            if each.name in _INTO_MEMORY:
                for position, operand in enumerate(each.operands):
                    if can_add(operand) and not variation.of(operand) and not _is_bytes(operand):
                        each.operands[position] = _computed(operand, computed)
            elif each.name in ("tensor.pad", tosa.PadOp.name):
                _pad(each)


def _has_unknown_size(op: Operation) -> bool:
    values = (*op.operands, *op.results)
    return any(isinstance(v.type, TensorType) and not v.type.has_static_shape() for v in values)


def _computed(x: SSAValue, known: dict[SSAValue, SSAValue]) -> SSAValue:
    """The same behind its op, which is before all that read it."""
    if x not in known:
        assert isinstance(x.owner, Operation)
        known[x] = plus_nothing(Beside(x.owner, behind=True), x)
    return known[x]


def _is_bytes(x: SSAValue) -> bool:
    """Whether it is known to be a number of equal bytes, which memory of any alignment is filled with."""
    op = x.owner
    while isinstance(op, Operation) and op.name in (*MOVED, linalg.FillOp.name):
        op = op.operands[0].owner
    number = _number(op) if isinstance(op, Operation) else None
    return number is not None and _has_equal_bytes(number)


def _number(op: Operation) -> DenseIntOrFPElementsAttr | None:
    """The single number that a constant is made of."""
    literal = op.properties.get("values", op.properties.get("value"))
    if isinstance(literal, IntegerAttr) and isinstance(literal.type, IntegerType):
        return dense_elements(TensorType(literal.type, []), [literal.value.data])
    if isinstance(literal, FloatAttr):
        return dense_elements(TensorType(literal.type, []), [literal.value.data])
    if isinstance(literal, DenseIntOrFPElementsAttr) and literal.is_splat():
        return dense_elements(
            TensorType(literal.get_element_type(), []), [next(iter(literal.iter_values()))]
        )
    return None


def _has_equal_bytes(number: DenseIntOrFPElementsAttr) -> bool:
    return len(set(number.data.data)) == 1


def _pad(op: Operation) -> None:
    """Pads with zeros what has been exchanged with them, and exchanges again."""
    # where the number is: an operand of TOSA's op, what the body of the other yields
    holder, position = (op, 2) if isinstance(op, tosa.PadOp) else (op.regions[0].block.last_op, 0)
    owner = holder.operands[position].owner if holder is not None else None
    number = _number(owner) if isinstance(owner, Operation) else None
    if holder is None or number is None or _has_equal_bytes(number):
        return
    before, behind = Beside(op), Beside(op, behind=True)
    element = element_of(op.operands[0])
    if holder is op:
        zero = tosa.ConstOp.create(
            result_types=[one := TensorType(element, [1])],
            properties={"values": dense_elements(one, [0])},
        )
        holder.operands[position] = before.insert(zero).results[0]
    else:
        holder.operands[position] = before.constant(_zero(element))
    readers = {use.operation for use in op.results[0].uses}
    op.operands[0] = _exchanged(before, op.operands[0], number)
    padded = _exchanged(behind, op.results[0], number)
    op.results[0].replace_uses_with_if(padded, lambda use: use.operation in readers)


def _zero(element: Attribute) -> Attribute:
    if isinstance(element, AnyFloat):
        return FloatAttr(0.0, element)
    assert isinstance(element, IntegerType)
    return IntegerAttr(0, element)


def _exchanged(place: Beside, x: SSAValue, number: DenseIntOrFPElementsAttr) -> SSAValue:
    """Zeros where the number is and the number where zeros are: all bits in which they differ are turned."""
    bits = IntegerType(8 * len(number.data.data))
    turned = IntegerAttr(int.from_bytes(number.data.data, "little"), bits)
    return loop_nest(place, x, tensor_type(x), lambda before, e: _turn(before, e, turned))


def _turn(before: Beside, x: SSAValue, turned: IntegerAttr[IntegerType]) -> SSAValue:
    if x.type == turned.type:
        return before.value(arith.XOrIOp, [x, before.constant(turned)], x.type)
    bits = before.value(arith.BitcastOp, [x], turned.type)
    other = before.value(arith.XOrIOp, [bits, before.constant(turned)], turned.type)
    return before.value(arith.BitcastOp, [other], x.type)
