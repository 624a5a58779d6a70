"""MLIR bytecode: what tools we did not write read of it is what they read of the text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from tests.oracle import read_by_xla, torch_mlir_opt, with_alignment_of_bytecode
from torch2mlir.dialects import bytecode
from torch2mlir.dialects.bytecode import bytecode_pieces
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import InputError
from torch2mlir.tools.opt import main as opt

LEVELS = ["raw", "torch", "stablehlo", "linalg-on-tensors", "tosa"]


class Mixed(nn.Module):
    """Weights of many dtypes, few and many elements, one of them twice, and numbers that are equal and differ."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3)
        self.linear = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4)
        self.tied.weight = self.linear.weight
        for dtype in (torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
            self.register_buffer(str(dtype).replace(".", "_"), torch.arange(40).to(dtype))

    def forward(self, x: Tensor) -> Any:
        mean = self.tied(self.linear(self.convolution(x).relu().mean((2, 3))))
        chosen = torch.where(x > 0.5, -0.0, torch.where(x < 0, 0.0, x)), x.clamp(-torch.inf, 1e30)
        return mean, chosen, [buffer[1:] for buffer in self.buffers()], torch.tensor(range(50)) + 1


@pytest.mark.share(4)
@pytest.mark.parametrize("weights", ["inline", "external", "arguments"])
@pytest.mark.parametrize("level", LEVELS)
def test_it_is_read_as_the_text_is(level: str, weights: str) -> None:
    module = torch2mlir.export_and_import(
        Mixed(), torch.rand(2, 3, 8, 8), output_type=level, weights=weights
    )
    read = torch_mlir_opt(module.bytecode())
    assert read == with_alignment_of_bytecode(torch_mlir_opt(module.text()))


def test_varying_sizes_and_loops() -> None:
    def halved(x: Tensor) -> Tensor:
        return torch.while_loop(lambda y: y.sum() > 1, lambda y: (y / 2,), (x,))[0]

    shapes = ({0: torch.export.Dim.DYNAMIC},)
    for level in LEVELS:
        module = torch2mlir.export_and_import(
            halved, torch.rand(4, 3), output_type=level, dynamic_shapes=shapes
        )
        assert torch_mlir_opt(module.bytecode()) == torch_mlir_opt(module.text())


BLOCKS = """
func.func @later(%flag: i1, %x: i64) -> i64 {
  cf.cond_br %flag, ^left(%x : i64), ^right
^right:
  %seven = arith.constant 7 : i64
  cf.br ^left(%seven : i64)
^left(%y: i64):
  %sum = arith.addi %y, %x : i64
  return %sum : i64
}
func.func private @outside(tensor<?xf32>) attributes {torch.onnx_meta.note = "caf\\C3\\A9 \\22"}
"""


def test_blocks_that_follow_each_other() -> None:
    module = parse_module(BLOCKS)
    read = torch_mlir_opt(b"".join(bytecode_pieces(module)))
    assert read == torch_mlir_opt(module_text(module))


def test_source_locations() -> None:
    module = torch2mlir.export_and_import(Mixed(), torch.rand(2, 3, 8, 8), output_type="torch")
    located = torch_mlir_opt(module.bytecode(debuginfo=True), "--mlir-print-debuginfo")
    assert located == with_alignment_of_bytecode(
        torch_mlir_opt(module.text(debuginfo=True), "--mlir-print-debuginfo")
    )
    assert Path(__file__).name in located
    assert Path(__file__).name not in torch_mlir_opt(module.bytecode(), "--mlir-print-debuginfo")


def test_xla_reads_the_weights_in_their_places() -> None:
    module = torch2mlir.export_and_import(Mixed(), torch.rand(2, 3, 8, 8), output_type="stablehlo")
    assert read_by_xla(module.bytecode()) == read_by_xla(module.text())


@pytest.mark.share(4)
@pytest.mark.parametrize("level", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_iree_runs_a_saved_file(level: str, tmp_path: Path) -> None:
    tools = pytest.importorskip("iree.compiler.tools")
    runtime = pytest.importorskip("iree.runtime")
    model, x = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)), torch.randn(3, 8)
    module = torch2mlir.export_and_import(model, x, output_type=level)
    (file,) = module.save(tmp_path / "model.mlirbc")
    assert file.read_bytes() == module.bytecode()
    input_type = {"tosa": "tosa", "stablehlo": "stablehlo"}.get(level, "none")
    flags = ["--iree-llvmcpu-target-cpu=generic"]
    compiled = tools.compile_file(
        str(file), target_backends=["llvm-cpu"], input_type=input_type, extra_args=flags
    )
    loaded = runtime.load_vm_flatbuffer(compiled, driver="local-sync")
    torch.testing.assert_close(torch.from_numpy(loaded.main(x.numpy()).to_host()), model(x))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    module = torch2mlir.export_and_import(nn.ReLU(), torch.rand(2), output_type="tosa")
    for name in ("model.mlir", "model.mlirbc"):
        with pytest.raises(InputError, match="is not a folder"):
            module.save(tmp_path / "missing" / name)


def test_opt_writes_it_and_says_that_it_reads_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, made = tmp_path / "blocks.mlir", tmp_path / "blocks.mlirbc"
    text.write_text(BLOCKS)
    assert opt([str(text), "-emit-bytecode", "-o", str(made)]) == 0
    assert torch_mlir_opt(made.read_bytes()) == torch_mlir_opt(BLOCKS)
    assert opt([str(made)]) == 1
    assert "MLIR bytecode" in capsys.readouterr().err
    assert opt([str(text), "--emit-bytecode", "--split-input-file"]) != 0


@pytest.mark.parametrize("bits", range(1, 65))
def test_numbers_of_every_length(bits: int) -> None:
    for number in {1 << bits - 1, (1 << bits) - 1}:
        written = bytecode._varint(number)
        zeros = next((at for at in range(8) if written[0] >> at & 1), 8)
        assert len(written) == zeros + 1
        value = int.from_bytes(written, sys.byteorder) >> (zeros + 1 if zeros < 8 else 8)
        assert value == number
