"""What is particular to XLA."""

from __future__ import annotations

import engine_programs as programs
import jax
import pytest
import torch

import torch2mlir
from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import get_engine


def test_dynamic_dimensions_are_refused_before_xla_sees_them() -> None:
    with pytest.raises(
        EngineError, match=r"static shapes only; argument 0 of @main is float32\[\?\]"
    ):
        programs.compiled(get_engine("xla"), programs.doubling(shape=(None,)), "stablehlo")


def test_64_bit_dtypes_leave_the_global_configuration_alone() -> None:
    run = programs.compiled(get_engine("xla"), programs.doubling(torch.int64, ()), "stablehlo")
    big = torch.tensor(2**40)
    assert run([big])[0].item() == 2**41
    assert run([run.prepare(big)])[0].dtype is torch.int64
    assert not jax.config.jax_enable_x64


def test_resource_constants_are_refused_with_the_reason() -> None:
    text = """
module {
  func.func public @main() -> tensor<2xf32> {
    %0 = stablehlo.constant dense_resource<r> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
{-# dialect_resources: { builtin: { r: "0x040000000000803F0000803F" } } #-}"""
    with pytest.raises(EngineError, match="program: Only dense elements") as caught:
        programs.compiled(get_engine("xla"), text, "stablehlo")
    assert "dense_resource<r>" in str(caught.value.op)


def test_chlo_is_lowered_by_xla() -> None:
    text = programs.doubling().replace(
        "stablehlo.add %a, %a : tensor<4xf32>", "chlo.erf %a : tensor<4xf32> -> tensor<4xf32>"
    )
    a = torch.randn(4)
    torch.testing.assert_close(
        programs.compiled(get_engine("xla"), text, "stablehlo")([a])[0], torch.erf(a)
    )


def test_another_main_is_in_the_way_of_the_entry() -> None:
    text = """
module {
  func.func private @main()
  func.func public @forward() { return }
}"""
    with pytest.raises(EngineError, match="another @main"):
        programs.compiled(get_engine("xla"), text, "stablehlo", "forward")


def doubled_by_mask(x: torch.Tensor) -> torch.Tensor:
    x, mask = x.clone(), x > 0
    x[mask] = x[mask].cumsum(0)
    return x


def test_a_size_from_data_inside_of_a_program_is_refused_by_the_line_of_the_model() -> None:
    with pytest.raises(EngineError, match="depends on the elements of a tensor") as raised:
        torch2mlir.compile(doubled_by_mask, torch.randn(6))
    assert "test_xla.py:" in str(raised.value)
