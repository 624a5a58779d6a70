"""The scalar op that a word is for each kind of operands, in bodies that are emitted and in those of named ops."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith, complex, math
from xdsl.ir import Operation

from torch2mlir.dialects import arith_ext
from torch2mlir.dialects.rows import ops_named

OpClass = type[Operation]


class Word(NamedTuple):
    """The op of a word for each kind of element; None where it has none."""

    on_floats: OpClass | None = None
    on_signed: OpClass | None = None
    on_unsigned: OpClass | None = None
    on_complex: OpClass | None = None


_OF_FLOATS = (
    "acos acosh asin asinh atan atan2 atanh ceil cosh erf floor log2 round sinh trunc"
    " cos exp log log1p rsqrt sin sqrt tan tanh"
)
_OF_COMPLEX = "cos exp expm1 log log1p rsqrt sin sqrt tan tanh"

WORDS: dict[str, Word] = {
    **{name: Word(op) for name, op in ops_named(math, _OF_FLOATS).items()},
    "copysign": Word(math.CopySignOp),
    "expm1": Word(math.ExpM1Op),
    "pow": Word(math.PowFOp, None, None, complex.PowOp),
    "roundeven": Word(math.RoundEvenOp),
    "abs": Word(math.AbsFOp, math.AbsIOp),
    "add": Word(arith.AddfOp, arith.AddiOp, arith.AddiOp, complex.AddOp),
    "sub": Word(arith.SubfOp, arith.SubiOp, arith.SubiOp, complex.SubOp),
    "mul": Word(arith.MulfOp, arith.MuliOp, arith.MuliOp, complex.MulOp),
    "div": Word(arith.DivfOp, arith.DivSIOp, arith.DivUIOp, complex.DivOp),
    "neg": Word(arith.NegfOp, None, None, complex.NegOp),
    "rem": Word(arith_ext.RemfOp, arith.RemSIOp, arith.RemUIOp),
    "max": Word(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": Word(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "and": Word(None, arith.AndIOp, arith.AndIOp),
    "or": Word(None, arith.OrIOp, arith.OrIOp),
    "xor": Word(None, arith.XOrIOp, arith.XOrIOp),
    "shl": Word(None, arith.ShLIOp, arith.ShLIOp),
    "shr": Word(None, arith.ShRSIOp, arith.ShRUIOp),
}
for _name, _op in ops_named(complex, _OF_COMPLEX).items():
    WORDS[_name] = WORDS[_name]._replace(on_complex=_op)
