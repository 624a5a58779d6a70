"""The entry function's types as the engines read them from text."""

from __future__ import annotations

import pytest
import torch

from torch2mlir.errors import EngineError, InputError
from torch2mlir.runtime.signature import TensorSpec, entry_signature

F32_2 = TensorSpec(torch.float32, (2,))


@pytest.mark.parametrize(
    "header, arguments, results",
    [
        ("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {", 1, 1),
        ("func.func public @main() {", 0, 0),
        ("func.func @main() -> (tensor<2xf32>, tensor<2xf32>) attributes {a = []} {", 0, 2),
        ('func.func @main(%a: tensor<2xf32> {k = "(,)"} loc("a":1:2)) {', 1, 0),
        (
            'func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32> {j = ""}) {',
            2,
            1,
        ),
        ('func.func @"main"(%a: tensor<2xf32, #enc<[1, 2]>>) {', 1, 0),
        (
            '"func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}>',
            1,
            1,
        ),
        ('"func.func"() <{sym_name = "main", function_type = () -> (tensor<2xf32>)}> ({', 0, 1),
        (
            '"func.func"() <{sym_name = "other", function_type = () -> ()}>\n'
            '"func.func"() <{sym_name = "main", function_type = (tensor<2xf32>) -> ()}>',
            1,
            0,
        ),
        ("func.func @main2()\nfunc.func @main(%a: tensor<2xf32>) {", 1, 0),
    ],
)
def test_header_forms(header: str, arguments: int, results: int) -> None:
    signature = entry_signature(f"module {{\n{header}\n}}", "main")
    assert signature.arguments == (F32_2,) * arguments
    assert signature.results == (F32_2,) * results


@pytest.mark.parametrize(
    "text, spec",
    [
        ("tensor<f64>", TensorSpec(torch.float64, ())),
        ("tensor<?x3xbf16>", TensorSpec(torch.bfloat16, (None, 3))),
        ("tensor<0x1xcomplex<f32>>", TensorSpec(torch.complex64, (0, 1))),
        ("tensor<2xui8>", TensorSpec(torch.uint8, (2,))),
        ("tensor<7xf8E4M3FN>", TensorSpec(torch.float8_e4m3fn, (7,))),
    ],
)
def test_tensor_types(text: str, spec: TensorSpec) -> None:
    assert entry_signature(f"func.func @f(%a: {text})", "f").arguments == (spec,)


@pytest.mark.parametrize(
    "kind", ["i64", "tensor<*xf32>", "!torch.vtensor<[2],f32>", "tensor<2xi5>"]
)
def test_what_is_no_ranked_tensor_is_refused(kind: str) -> None:
    with pytest.raises(EngineError, match="argument 0 of @main is not a tensor"):
        entry_signature(f"func.func @main(%a: {kind})", "main")


def test_missing_function_names_those_there_are() -> None:
    with pytest.raises(EngineError, match="@forward, @g"):
        entry_signature("func.func @forward()\nfunc.func private @g()", "main")


def test_arguments_are_checked() -> None:
    check = entry_signature("func.func @main(%a: tensor<?x4xf32>, %b: tensor<i8>)", "main").check
    byte = torch.zeros((), dtype=torch.int8)
    for rows in (0, 1, 7):
        check([torch.zeros(rows, 4), byte])
    check([torch.zeros(1, 4), byte.to(torch.uint8)])
    for bad, message in (
        ([torch.zeros(1, 4)], "takes 2 arguments, got 1"),
        (
            [torch.zeros(4), byte],
            r"argument 0 of @main is declared float32\[\?, 4\], got float32\[4\]",
        ),
        ([torch.zeros(1, 5), byte], "argument 0"),
        ([torch.zeros(1, 4), byte.bool()], "argument 1 of @main is declared int8"),
        ([torch.zeros(1, 4), 3], "argument 1 of @main should be a tensor, got int"),
        ([torch.zeros(1, 4).numpy(), byte], "argument 0 of @main should be a tensor, got ndarray"),
    ):
        with pytest.raises(InputError, match=message):
            check(bad)


@pytest.mark.parametrize(
    "header",
    [
        "func.func private @main()",
        '"func.func"() <{function_type = () -> (), sym_name = "main", sym_visibility = "private"}>',
    ],
)
def test_a_private_entry_is_refused(header: str) -> None:
    with pytest.raises(EngineError, match="@main is private"):
        entry_signature(header, "main")
