"""Small MLIR programs the engine tests compile."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from torch2mlir.runtime.engine import Engine, Executable
from torch2mlir.runtime.lowered import LoweredFunction


def compiled(engine: Engine, text: str, output_type: str, name: str = "main") -> Executable:
    """A function of a program that is there as text, compiled."""
    return engine.compile(LoweredFunction.parse(text, output_type, name))


ELEMENT = {
    torch.bool: "i1",
    torch.uint8: "ui8",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}


def tensor_type(dtype: torch.dtype, shape: tuple[int | None, ...]) -> str:
    dims = "".join(f"{'?' if dim is None else dim}x" for dim in shape)
    return f"tensor<{dims}{ELEMENT[dtype]}>"


def doubling(
    dtype: torch.dtype = torch.float32, shape: tuple[int | None, ...] = (4,), name: str = "main"
) -> str:
    """``a + a`` (``a | a`` for bool) in StableHLO."""
    tensor = tensor_type(dtype, shape)
    op = "or" if dtype is torch.bool else "add"
    return f"""
module {{
  func.func public @{name}(%a: {tensor} {{mylib.name = "x, (y) -> z"}}) -> {tensor} {{
    %0 = stablehlo.{op} %a, %a : {tensor} loc("model.py":12:0)
    return %0 : {tensor}
  }}
}}"""


def doubling_each(dtypes: Iterable[torch.dtype], shape: tuple[int | None, ...]) -> str:
    """:func:`doubling` of an argument of each dtype, which has a result of its own."""
    tensors = [tensor_type(dtype, shape) for dtype in dtypes]
    arguments = ", ".join(f"%a{n}: {tensor}" for n, tensor in enumerate(tensors))
    body = "\n".join(
        f"%{n} = stablehlo.{'or' if dtype is torch.bool else 'add'} %a{n}, %a{n} : {tensor}"
        for n, (dtype, tensor) in enumerate(zip(dtypes, tensors, strict=True))
    )
    results = ", ".join(f"%{n}" for n in range(len(tensors)))
    return f"""
module {{
  func.func public @main({arguments}) -> ({", ".join(tensors)}) {{
    {body}
    return {results} : {", ".join(tensors)}
  }}
}}"""


def sum_of(count: int) -> str:
    """Sum of ``count`` matrix products with one vector: every argument in a dispatch of its own."""
    arguments = ", ".join(f"%w{i}: tensor<16x16xf32>" for i in range(count))
    body = "\n".join(
        f"%x{i + 1} = stablehlo.dot_general %w{i}, %x{i}, contracting_dims = [1] x [0] : "
        "(tensor<16x16xf32>, tensor<16xf32>) -> tensor<16xf32>"
        for i in range(count)
    )
    return f"""
module {{
  func.func public @main(%x0: tensor<16xf32>, {arguments}) -> tensor<16xf32> {{
    {body}
    return %x{count} : tensor<16xf32>
  }}
}}"""


# Six results: an argument, a reshape of it, a slice of it, a sum, the sum again, a constant.
ALIASES = """
module {
  func.func public @main(%a: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<128xf32>,
      tensor<2x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<2xf32>) {
    %0 = stablehlo.reshape %a : (tensor<4x32xf32>) -> tensor<128xf32>
    %1 = stablehlo.slice %a [0:2, 0:32] : (tensor<4x32xf32>) -> tensor<2x32xf32>
    %2 = stablehlo.add %a, %a : tensor<4x32xf32>
    %3 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    return %a, %0, %1, %2, %2, %3 : tensor<4x32xf32>, tensor<128xf32>, tensor<2x32xf32>,
      tensor<4x32xf32>, tensor<4x32xf32>, tensor<2xf32>
  }
}"""

CONVOLUTION = """
module {
  func.func public @main(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
    return %0 : tensor<2x4x8x8xf32>
  }
}"""

GREATER = """
module {
  func.func public @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xi1> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xi1>
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>,
      affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xi1>) {
    ^bb0(%x: f32, %y: f32, %o: i1):
      %g = arith.cmpf ogt, %x, %y : f32
      linalg.yield %g : i1
    } -> tensor<?xi1>
    return %0 : tensor<?xi1>
  }
}"""

MATMUL = """
module {
  func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = tensor.dim %a, %c0 : tensor<?x?xf32>
    %n = tensor.dim %b, %c1 : tensor<?x?xf32>
    %k = tensor.dim %a, %c1 : tensor<?x?xf32>
    %l = tensor.dim %b, %c0 : tensor<?x?xf32>
    %same = arith.cmpi eq, %k, %l : index
    cf.assert %same, "mismatching contracting dimension for aten.mm"
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}"""

# NHWC, generic form: TOSA's custom syntax differs between MLIR versions.
TOSA_CONVOLUTION = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>)
      -> tensor<1x8x8x4xf32>, sym_name = "main"}> ({
  ^bb0(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>):
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %0 = "tosa.conv2d"(%x, %w, %b, %z, %z) <{acc_type = f32, dilation = array<i64: 1, 1>,
      pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}> : (tensor<1x8x8x3xf32>,
      tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
    "func.return"(%0) : (tensor<1x8x8x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()"""
