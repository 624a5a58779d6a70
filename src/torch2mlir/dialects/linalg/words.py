"""The scalar op that a word is for each kind of operands, in bodies that are emitted and in those of named ops."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith, complex, math
from xdsl.ir import Operation

from torch2mlir.dialects import arith_ext

OpClass = type[Operation]


class Word(NamedTuple):
    """The op of a word for each kind of element; None where it has none."""

    on_floats: OpClass | None = None
    on_signed: OpClass | None = None
    on_unsigned: OpClass | None = None
    on_complex: OpClass | None = None


WORDS: dict[str, Word] = {
    "add": Word(arith.AddfOp, arith.AddiOp, arith.AddiOp, complex.AddOp),
    "sub": Word(arith.SubfOp, arith.SubiOp, arith.SubiOp, complex.SubOp),
    "mul": Word(arith.MulfOp, arith.MuliOp, arith.MuliOp, complex.MulOp),
    "div": Word(arith.DivfOp, arith.DivSIOp, arith.DivUIOp, complex.DivOp),
    "rem": Word(arith_ext.RemfOp, arith.RemSIOp, arith.RemUIOp),
    "max": Word(arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": Word(arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
    "and": Word(None, arith.AndIOp, arith.AndIOp),
    "or": Word(None, arith.OrIOp, arith.OrIOp),
    "xor": Word(None, arith.XOrIOp, arith.XOrIOp),
    "shl": Word(None, arith.ShLIOp, arith.ShLIOp),
    "shr": Word(None, arith.ShRSIOp, arith.ShRUIOp),
    "neg": Word(arith.NegfOp, None, None, complex.NegOp),
    "abs": Word(math.AbsFOp, math.AbsIOp),
    "acos": Word(math.AcosOp),
    "acosh": Word(math.AcoshOp),
    "asin": Word(math.AsinOp),
    "asinh": Word(math.AsinhOp),
    "atan": Word(math.AtanOp),
    "atan2": Word(math.Atan2Op),
    "atanh": Word(math.AtanhOp),
    "ceil": Word(math.CeilOp),
    "copysign": Word(math.CopySignOp),
    "cos": Word(math.CosOp, None, None, complex.CosOp),
    "cosh": Word(math.CoshOp),
    "erf": Word(math.ErfOp),
    "exp": Word(math.ExpOp, None, None, complex.ExpOp),
    "expm1": Word(math.ExpM1Op, None, None, complex.Expm1Op),
    "floor": Word(math.FloorOp),
    "log": Word(math.LogOp, None, None, complex.LogOp),
    "log1p": Word(math.Log1pOp, None, None, complex.Log1pOp),
    "log2": Word(math.Log2Op),
    "pow": Word(math.PowFOp, None, None, complex.PowOp),
    "roundeven": Word(math.RoundEvenOp),
    "round": Word(math.RoundOp),
    "rsqrt": Word(math.RsqrtOp, None, None, complex.RsqrtOp),
    "sin": Word(math.SinOp, None, None, complex.SinOp),
    "sinh": Word(math.SinhOp),
    "sqrt": Word(math.SqrtOp, None, None, complex.SqrtOp),
    "tan": Word(math.TanOp, None, None, complex.TanOp),
    "tanh": Word(math.TanhOp, None, None, complex.TanhOp),
    "trunc": Word(math.TruncOp),
}
