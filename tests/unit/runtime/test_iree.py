"""What is particular to IREE: three dialects, dynamic shapes, its defaults undone."""

from __future__ import annotations

import engine_programs as programs
import pytest
import torch
from repeated_calls import agrees_with_eager

import torch2mlir
from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import get_engine


def test_one_dynamic_module_runs_every_size() -> None:
    run = programs.compiled(get_engine("iree"), programs.MATMUL, "linalg-on-tensors")
    for m, k, n in ((1, 1, 1), (3, 5, 7), (64, 130, 33), (0, 4, 2)):
        a, b = torch.rand(m, k), torch.rand(k, n)
        torch.testing.assert_close(run([a, run.prepare(b)])[0], a @ b)


def test_a_failed_assertion_of_the_program_is_an_error() -> None:
    run = programs.compiled(get_engine("iree"), programs.MATMUL, "linalg-on-tensors")
    with pytest.raises(EngineError, match="mismatching contracting dimension for aten.mm"):
        run([torch.rand(2, 3), torch.rand(4, 5)])
    a = torch.rand(2, 3)
    torch.testing.assert_close(run([a, a.t()])[0], a @ a.t(), msg="usable after a failure")


def test_dynamic_stablehlo() -> None:
    run = programs.compiled(get_engine("iree"), programs.doubling(shape=(None, 3)), "stablehlo")
    for rows in (0, 1, 100):
        a = torch.rand(rows, 3)
        torch.testing.assert_close(run([a])[0], a + a)


def test_bool_results() -> None:
    run = programs.compiled(get_engine("iree"), programs.GREATER, "linalg-on-tensors")
    a, b = torch.rand(100), torch.rand(100)
    (out,) = run([a, b])
    assert out.dtype is torch.bool and torch.equal(out, a > b)
    assert set(out.view(torch.uint8).tolist()) == {0, 1}


def test_unsigned_bytes_in_a_signless_argument() -> None:
    text = """
module {
  func.func @main(%a: tensor<3xi8>) -> (tensor<3xi8>, tensor<3xf32>) {
    %e = tensor.empty() : tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : tensor<3xi8>) outs(%e : tensor<3xf32>) {
    ^bb0(%x: i8, %o: f32):
      %f = arith.uitofp %x : i8 to f32
      linalg.yield %f : f32
    } -> tensor<3xf32>
    return %a, %0 : tensor<3xi8>, tensor<3xf32>
  }
}"""
    run = programs.compiled(get_engine("iree"), text, "linalg-on-tensors")
    a = torch.tensor([0, 127, 255], dtype=torch.uint8)
    for argument in (a, run.prepare(a)):
        same, floats = run([argument])
        assert same.dtype is torch.int8 and torch.equal(same.view(torch.uint8), a)
        assert floats.tolist() == [0.0, 127.0, 255.0]


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_parts_with_steps_of_computed_bytes(output_type: str) -> None:
    """IREE has no barriers for unsigned elements."""

    def parts(x: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x + 1
        return y[:, ::2], y.index_copy(0, rows, y[:2]), y[1:2, 1:2] * 3

    def new() -> tuple[torch.Tensor, ...]:
        return torch.randint(0, 256, (4, 6)).to(torch.uint8), torch.tensor([3, 1])

    agrees_with_eager(parts, new, output_type=output_type, engine="iree")


def test_double_precision_is_kept() -> None:
    run = programs.compiled(get_engine("iree"), programs.doubling(torch.float64, ()), "stablehlo")
    assert run([torch.tensor(1 + 2**-40, dtype=torch.float64)])[0].item() == 2 + 2**-39


def test_tosa_in_generic_form() -> None:
    run = programs.compiled(get_engine("iree"), programs.TOSA_CONVOLUTION, "tosa")
    x, w, b = torch.rand(1, 8, 8, 3), torch.rand(4, 3, 3, 3), torch.rand(4)
    expected = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), b, padding=1
    ).permute(0, 2, 3, 1)
    torch.testing.assert_close(run([x, w, b])[0], expected)


def test_a_program_of_too_many_buffers_is_refused_with_the_reason() -> None:
    tensor = "tensor<16xf32>"
    arguments = ", ".join(f"%a{i}: {tensor}" for i in range(80))
    body = "\n".join(f"%b{i + 1} = stablehlo.add %b{i}, %a{i} : {tensor}" for i in range(80))
    text = f"""
module {{
  func.func public @main(%b0: {tensor}, {arguments}) -> {tensor} {{
    {body}
    return %b80 : {tensor}
  }}
}}"""
    with pytest.raises(EngineError, match="binding count"):
        programs.compiled(get_engine("iree"), text, "stablehlo")


def test_torch_attributes_of_arguments_are_refused() -> None:
    text = programs.doubling().replace("mylib.name", "torch.name")
    with pytest.raises(EngineError, match="unknown region arg attribute"):
        programs.compiled(get_engine("iree"), text, "stablehlo")


def test_complex128_of_unknown_sizes() -> None:
    """Behind an odd number of booleans, elements of 16 bytes lay where IREE does not read them: the process ended."""

    def scaled(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.real > 0, x.sum(0), x / x.abs().amax(0), x @ x.mT.conj()

    agrees_with_eager(
        scaled,
        lambda: (torch.randn(3, 5, 3, dtype=torch.complex128),),
        engine="iree",
        output_type="linalg-on-tensors",
        dynamic_shapes=({1: torch.export.Dim.DYNAMIC},),
    )
    batch = torch.randn(3, 3, 3, dtype=torch.complex128)
    with pytest.raises(EngineError, match="complex128 beside loops") as refused:
        torch2mlir.compile(
            lambda x: torch.linalg.inv(x),
            batch,
            engine="iree",
            output_type="linalg-on-tensors",
            dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
        )(batch)
    assert "complex64" in (refused.value.hint or "")
