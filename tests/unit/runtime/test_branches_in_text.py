"""Text that others have written, on IREE: with the same care as our own programs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import get_engine
from torch2mlir.runtime.iree import _process_flags
from torch2mlir.runtime.lowered import LoweredFunction

_FOLLOWING = "--iree-stream-resource-min-offset-alignment=1"
_JUMPS = """
func.func private @other(%x: tensor<?xf32>, %p: tensor<i64>) -> tensor<?xf32> {
  %p0 = tensor.extract %p[] : tensor<i64>
  %c1 = arith.constant 1 : i64
  %c = arith.cmpi eq, %p0, %c1 : i64
  cf.cond_br %c, ^bb1(%x : tensor<?xf32>), ^bb2
^bb2:
  %0 = arith.addf %x, %x : tensor<?xf32>
  cf.br ^bb1(%0 : tensor<?xf32>)
^bb1(%y: tensor<?xf32>):
  return %y : tensor<?xf32>
}
func.func @main(%x: tensor<?xf32>, %p: tensor<i64>) -> tensor<?xf32> {
  %0 = func.call @other(%x, %p) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def _eager(x: Tensor, p: Tensor) -> Tensor:
    return x if p == 1 else x + x


@pytest.mark.parametrize(
    "op",
    [
        "scf.if %p -> tensor<?xf32>",
        "scf.index_switch %i -> tensor<?xf32>",
        "scf.execute_region -> tensor<?xf32>",
        "cf.cond_br %p, ^bb1, ^bb2",
        "cf.switch %i : i32",
        "func.call @other(%x)",
        '"func.call"(%x) <{callee = @other}>',
        "call @other(%x)",
        '"stablehlo.case"(%i)',
        "stablehlo.composite",
        "tosa.cond_if",
    ],
)
def test_every_form_of_branch_is_seen(op: str) -> None:
    """IREE takes the place of a tensor that is handed on for that of any other, unless all follow each other."""
    assert _FOLLOWING in _process_flags(f"%0 = {op} // tensor<?xf32>")


@pytest.mark.parametrize("op", ["arith.addf %called, %x", "stablehlo.custom_call @f(%x)"])
def test_others_have_none(op: str) -> None:
    assert _FOLLOWING not in _process_flags(f"%0 = {op} : tensor<?xf32>")


def test_jumps_in_another_function_are_right() -> None:
    assert _FOLLOWING in _process_flags(_JUMPS)
    executable = get_engine("iree").compile(LoweredFunction.parse(_JUMPS, "linalg-on-tensors"))
    for size, which in ((3, 1), (5, 0), (4, 1), (1, 2)):
        x, p = torch.rand(size), torch.tensor(which)
        torch.testing.assert_close(executable([x, p])[0], _eager(x, p))


def test_jumps_in_the_entry_are_refused() -> None:
    """The reference engine takes them."""
    text = _JUMPS.replace("private @other", "@entry")
    function = LoweredFunction.parse(text, "linalg-on-tensors", "entry")
    with pytest.raises(EngineError, match="jumps between blocks") as caught:
        get_engine("iree").compile(function)
    assert caught.value.hint is not None and "scf.if" in caught.value.hint
    executable = get_engine("reference").compile(function)
    for which in (1, 0, 2):
        x, p = torch.rand(3), torch.tensor(which)
        torch.testing.assert_close(executable([x, p])[0], _eager(x, p))


_WRITTEN = """
func.func @main(%x: tensor<64xf32>, %y: tensor<2xf32>) -> tensor<64xf32> {
  %0 = tensor.insert_slice %y into %x[3] [2] [1] : tensor<2xf32> into tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""
_SORTED = """
func.func @main(%x: tensor<64xf32>, %y: tensor<2xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "dialect"), [(_WRITTEN, "linalg-on-tensors"), (_SORTED, "stablehlo")]
)
@pytest.mark.share(2)
def test_arguments_stay_as_they_are(text: str, dialect: str) -> None:
    """IREE updates them in place in the caller's memory, unless they are copied first."""
    executable = get_engine("iree").compile(LoweredFunction.parse(text, dialect))
    for _ in range(3):
        x, y = torch.rand(64), torch.rand(2)
        before = x.clone()
        expected = x.sort().values if dialect == "stablehlo" else torch.cat([x[:3], y, x[5:]])
        torch.testing.assert_close(executable([x, y])[0], expected)
        assert torch.equal(x, before)
