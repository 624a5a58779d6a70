"""What an engine gets: the types of a function, its text, and the check of arguments."""

from __future__ import annotations

import pytest
import torch

import torch2mlir
from torch2mlir.errors import EngineError, InputError
from torch2mlir.pipeline import Pipeline
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec

F32_2 = TensorSpec(torch.float32, (2,))


def lowered(header: str, name: str = "main") -> LoweredFunction:
    return LoweredFunction.parse(f"module {{\n{header}\n}}", "stablehlo", name)


@pytest.mark.parametrize(
    "header, arguments, results",
    [
        ("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }", 1, 1),
        ("func.func public @main() { return }", 0, 0),
        ('func.func @"main"(%a: tensor<2xf32> {k = "(,)"}) { return }', 1, 0),
        (
            '"func.func"() <{function_type = (tensor<2xf32>) -> (), sym_name = "main"}> ({\n'
            '^bb0(%a: tensor<2xf32>):\n "func.return"() : () -> ()\n}) : () -> ()',
            1,
            0,
        ),
        ("func.func @main2() { return }\nfunc.func @main(%a: tensor<2xf32>) { return }", 1, 0),
    ],
)
def test_types_of_the_entry(header: str, arguments: int, results: int) -> None:
    function = lowered(header)
    assert function.arguments == (F32_2,) * arguments
    assert function.results == (F32_2,) * results


@pytest.mark.parametrize(
    "text, spec",
    [
        ("tensor<f64>", TensorSpec(torch.float64, ())),
        ("tensor<?x3xbf16>", TensorSpec(torch.bfloat16, (None, 3))),
        ("tensor<0x1xcomplex<f32>>", TensorSpec(torch.complex64, (0, 1))),
        ("tensor<2xui8>", TensorSpec(torch.uint8, (2,))),
        ("tensor<2xi1>", TensorSpec(torch.bool, (2,))),
    ],
)
def test_tensor_types(text: str, spec: TensorSpec) -> None:
    assert lowered(f"func.func @f(%a: {text}) {{ return }}", "f").arguments == (spec,)


@pytest.mark.parametrize("kind", ["i64", "tensor<*xf32>", "tensor<2xi5>"])
def test_what_is_no_ranked_tensor_is_refused(kind: str) -> None:
    with pytest.raises(EngineError, match="argument 0 of @main is a"):
        lowered(f"func.func @main(%a: {kind}) {{ return }}")


def test_missing_function_names_those_there_are() -> None:
    with pytest.raises(EngineError, match="@forward, @g"):
        lowered("func.func @forward() { return }\nfunc.func private @g()")


def test_a_private_entry_is_refused() -> None:
    with pytest.raises(EngineError, match="@main is private"):
        lowered("func.func private @main()")


def test_a_body_is_needed() -> None:
    with pytest.raises(EngineError, match="declared only"):
        LoweredFunction.parse("func.func @main(tensor<2xf32>) -> tensor<2xf32>", "tosa")


def test_arguments_are_checked() -> None:
    check = lowered("func.func @main(%a: tensor<?x4xf32>, %b: tensor<i8>) { return }").check
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


def test_text_that_was_read_is_handed_out_as_it_came() -> None:
    text = "module {\n  func.func @main() { return } // mine\n}"
    assert LoweredFunction.parse(text, "stablehlo").text() == text


def test_a_lowered_program_has_text_in_the_targets_weight_syntax() -> None:
    layer = torch.nn.Linear(64, 64)
    for target, syntax in (("stablehlo", 'dense<"0x'), ("linalg-on-tensors", "dense_resource<")):
        module = torch2mlir.export_and_import(layer, torch.ones(2, 64), output_type=target)
        function = LoweredFunction.of(module.operation, Pipeline.to(target).output_type)
        assert syntax in function.text()
        assert function.arguments == (TensorSpec(torch.float32, (2, 64)),)
