"""The scalar bodies that named operations stand for.

MLIR gives every named operation a region; its custom form does not show it. Ours have the region
only once something asks for it: the generic form must contain it, nothing else needs it.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ComplexType, FloatAttr, IndexType, IntegerType, i1
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from torch2mlir.dialects.linalg.structured import element_type
from torch2mlir.dialects.linalg.words import WORDS

ScalarBody = Callable[["Scalars", Sequence[SSAValue]], SSAValue]
"""Computes the element of the output from one element of each operand, the output's own last."""

_NAMES = {"negf": "neg", "powf": "pow"}
_ON_BOOLEANS = {"add": "or", "mul": "and", "max": "max", "min": "min"}


def _kind(type_: Attribute) -> str:
    """The column of a type in the tables."""
    if isa(type_, AnyFloat):
        return "float"
    if type_ == i1:
        return "boolean"
    if isinstance(type_, IntegerType | IndexType):
        return "integer"
    return "complex" if isinstance(type_, ComplexType) else "other"


class Scalars:
    """Appends scalar operations to a body, chosen by the type of their operands."""

    def __init__(self, owner: str, block: Block, *, signed: bool = True) -> None:
        self.owner = owner
        self.block = block
        self.signed = signed

    def emit(self, op: type[Operation], type_: Attribute, *operands: SSAValue) -> SSAValue:
        """Append one operation and return its result."""
        created = op.create(operands=operands, result_types=[type_])
        self.block.add_op(created)
        return created.results[0]

    def apply(self, function: str, *operands: SSAValue) -> SSAValue:
        """Append the operation for `function` on operands of one type."""
        type_ = operands[-1].type
        op = _op(function, _kind(type_), len(operands))
        if op is None:
            raise VerifyException(f"{self.owner}: there is no {function} of {type_}")
        return self.emit(op, type_, *operands)

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """Convert a scalar to another type, as linalg converts mixed operands."""
        if value.type == type_:
            return value
        source, target = _kind(value.type), _kind(type_)
        source = "integer" if source == "boolean" else source
        target = "integer" if target == "boolean" else target
        widens = _width(type_) > _width(value.type)
        op: type[Operation]
        match source, target:
            case "integer", "integer":
                extension = arith.ExtSIOp if self.signed else arith.ExtUIOp
                op = extension if widens else arith.TruncIOp
            case "float", "float":
                op = arith.ExtFOp if widens else arith.TruncFOp
            case "integer", "float":
                op = arith.SIToFPOp if self.signed else arith.UIToFPOp
            case "float", "integer":
                op = arith.FPToSIOp if self.signed else arith.FPToUIOp
            case _:
                raise VerifyException(
                    f"{self.owner}: there is no conversion of {value.type} to {type_}"
                )
        return self.emit(op, type_, value)


def _op(function: str, kind: str, operands: int) -> type[Operation] | None:
    """The op of a named one's function; those of one operand are of floats."""
    word, unsigned, _ = function.partition("_unsigned")
    if kind == "boolean":
        word = _ON_BOOLEANS.get(word, "")
    ops = WORDS.get(_NAMES.get(word, word))
    if ops is None or kind == "other" or (operands == 1 and kind != "float"):
        return None
    if kind in ("float", "complex"):
        return ops.on_floats if kind == "float" else ops.on_complex
    return ops.on_unsigned if unsigned else ops.on_signed


def _width(type_: Attribute) -> int:
    """The number of bits of an integer or float type."""
    return type_.bitwidth if isa(type_, AnyFloat) or isinstance(type_, IntegerType) else 64


def build_body(
    name: str, operands: Sequence[SSAValue], compute: ScalarBody, *, signed: bool = True
) -> Region:
    """A region with one argument for each operand that yields what `compute` returns."""
    block = Block(arg_types=[element_type(operand.type) for operand in operands])
    result = compute(Scalars(name, block, signed=signed), block.args)
    block.add_op(YieldOp.create(operands=[result]))
    return Region(block)


# Bodies


def multiply_accumulate(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """out + a * b, in the type of the output."""
    a, b, out = args
    product = scalars.apply("mul", scalars.cast(a, out.type), scalars.cast(b, out.type))
    return scalars.apply("add", out, product)


def quantized_multiply_accumulate(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """out + (a - a_zero) * (b - b_zero), in the type of the output."""
    a, b, a_zero, b_zero, out = args
    left = scalars.apply("sub", *(scalars.cast(value, out.type) for value in (a, a_zero)))
    right = scalars.apply("sub", *(scalars.cast(value, out.type) for value in (b, b_zero)))
    return scalars.apply("add", out, scalars.apply("mul", left, right))


def pool(function: str) -> ScalarBody:
    """Combine the output with the input; the window operand only has a shape."""

    def compute(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        value, _, out = args
        return scalars.apply(function, out, scalars.cast(value, out.type))

    return compute


def elementwise(function: str) -> ScalarBody:
    """Apply a function to the inputs."""

    def compute(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
        return scalars.apply(function, *(scalars.cast(arg, args[-1].type) for arg in args[:-1]))

    return compute


def first_input(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """The input itself, in the type of the output."""
    return scalars.cast(args[0], args[-1].type)


def square(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """x * x."""
    return scalars.apply("mul", args[0], args[0])


def reciprocal(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """1 / x of a float."""
    type_ = args[0].type
    if not isa(type_, AnyFloat):
        raise VerifyException(f"{scalars.owner}: there is no reciprocal of {type_}")
    one = arith.ConstantOp(FloatAttr(1.0, type_))
    scalars.block.add_op(one)
    return scalars.apply("div", one.result, args[0])


def select(scalars: Scalars, args: Sequence[SSAValue]) -> SSAValue:
    """The second input where the first holds, else the third."""
    return scalars.emit(arith.SelectOp, args[1].type, *args[:3])
