"""The ``torch_c`` dialect: casts between types of torch and MLIR, in texts that Torch-MLIR's passes leave."""

from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Dialect
from xdsl.irdl import eq

from torch2mlir.dialects.rows import Kind, op_classes
from torch2mlir.dialects.torch import types as t

_KINDS = {
    "tensor": Kind(),
    "bool": Kind(eq(t.bool_type)),
    "int": Kind(eq(t.int_type)),
    "float": Kind(eq(t.float_type)),
    "generator": Kind(eq(t.generator_type)),
    "i1": Kind(eq(i1)),
    "i64": Kind(eq(i64)),
    "f64": Kind(eq(f64)),
}
_OF_TENSORS = op_classes(
    "torch_c",
    _KINDS,
    """
    to_builtin_tensor operand -> result
    from_builtin_tensor operand -> result
    get_next_seed -> result: i64
      | attr-dict `:` `(` `)` `->` type($result) |
      The next seed of random numbers.
    """,
    (),
    format="$operand attr-dict `:` type($operand) `->` type($result)",
)
_OF_NUMBERS = op_classes(
    "torch_c",
    _KINDS,
    """
    to_i1 operand: bool -> result: i1
    from_i1 operand: i1 -> result: bool
    to_i64 operand: int -> result: i64
    from_i64 operand: i64 -> result: int
    to_f64 operand: float -> result: f64
    from_f64 operand: f64 -> result: float
    generator_to_i64 operand: generator -> result: i64
    i64_to_generator operand: i64 -> result: generator
    """,
    format="$operand attr-dict",
)

TORCH_C = Dialect("torch_c", [*_OF_TENSORS, *_OF_NUMBERS])
