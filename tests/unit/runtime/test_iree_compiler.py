"""IREE's compiler in a process beside this one: what it dies of is an error, and the next program compiles."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torch2mlir.errors import EngineError
from torch2mlir.runtime import iree_compiler
from torch2mlir.runtime.compile_deadline import compile_deadline, compiling_until
from torch2mlir.runtime.iree_compiler import compile_to_bytecode

FLAGS = (
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-type=stablehlo",
)
PROGRAM = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def compiled(text: str = PROGRAM) -> bytes:
    return compile_to_bytecode(text, "stablehlo", FLAGS)


def test_the_same_process_compiles_again() -> None:
    compiled()
    before = set(map(id, iree_compiler._idle))
    assert compiled()
    assert set(map(id, iree_compiler._idle)) == before


def test_a_compiler_that_dies_is_an_error_and_the_next_program_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled()

    def die_in_the_middle(self: iree_compiler._Process, text: bytes, flags: object) -> None:
        os.kill(self._process.pid, 11)

    with monkeypatch.context() as patched:
        patched.setattr(iree_compiler._Process, "compile", die_in_the_middle)
        with pytest.raises(EngineError, match="crashed on the program: it died of signal 11"):
            compiled()
    assert compiled()


ENDLESS = """
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<2x2xf16>) -> tensor<2xf32> {
  %0 = tensor.empty() : tensor<2x2xf32>
  %1 = tensor.empty() : tensor<2xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x2xf16>) outs(%0 : tensor<2x2xf32>) {
    ^bb0(%a: f16, %b: f32):
      %wide = arith.extf %a : f16 to f32
      linalg.yield %wide : f32
  } -> tensor<2x2xf32>
  %3 = tensor.collapse_shape %2 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %4 = tensor.extract_slice %3[0] [1] [1] : tensor<4xf32> to tensor<1xf32>
  %5 = tensor.collapse_shape %4 [] : tensor<1xf32> into tensor<f32>
  %6 = linalg.broadcast ins(%5 : tensor<f32>) outs(%1 : tensor<2xf32>) dimensions = [0]
  func.return %6 : tensor<2xf32>
}"""
"""IREE 3.13 does not get done with it; ``compute-slices-first`` writes it otherwise."""


def test_a_compiler_that_does_not_end_is_ended() -> None:
    compiled()
    with (
        compiling_until(time.perf_counter() + 5),
        pytest.raises(EngineError, match="did not end in the time"),
    ):
        compile_to_bytecode(ENDLESS, "linalg-on-tensors", (*FLAGS[:2], "--iree-input-type=none"))
    assert compile_deadline() is None
    assert compiled()


def test_what_ends_in_time_is_compiled() -> None:
    with compiling_until(time.perf_counter() + 60):
        assert compiled()
    assert iree_compiler._idle[-1].is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems choose otherwise")
def test_where_memory_runs_out_the_compiler_dies_first() -> None:
    compiled()
    (process, *_) = iree_compiler._idle
    assert Path(f"/proc/{process._process.pid}/oom_score_adj").read_text().strip() == "1000"


def test_a_compiler_that_has_died_since_is_replaced() -> None:
    compiled()
    stopped = list(iree_compiler._idle)
    for process in stopped:
        process.stop()
    assert compiled()
    assert not set(map(id, stopped)) & set(map(id, iree_compiler._idle))


def test_a_refusal_says_what_and_where() -> None:
    with pytest.raises(EngineError, match="cannot compile the program") as raised:
        compiled(PROGRAM.replace("return %0 : tensor<4xf32>", "return %0 : tensor<5xf32>"))
    assert "line 4" in str(raised.value)


def test_a_wrong_flag_is_an_error() -> None:
    with pytest.raises(EngineError, match="parsing flags"):
        compile_to_bytecode(PROGRAM, "stablehlo", (*FLAGS, "--no-such-flag"))


def test_a_small_program_compiles_fast_once_the_process_is_warm() -> None:
    compiled()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        compiled()
        times.append(time.perf_counter() - start)
    assert min(times) < 1.0  # 0.1 s on an idle machine


OWNER = """
import os, time
from torch2mlir.runtime.iree_compiler import _Process
process = _Process(())
keeper = os.fork()
if keeper:
    print(process._process.pid, keeper, flush=True)
time.sleep(60)
"""


def test_the_compiler_ends_with_a_program_that_is_killed() -> None:
    """Also where it does not see the end of its input, as while it compiles: a process that was forked holds it open."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    compiler, keeper = map(int, owner.stdout.readline().split())
    time.sleep(1)  # until it takes requests
    owner.kill()
    owner.wait()
    try:
        for _ in range(100):
            if not Path(f"/proc/{compiler}").exists():
                return
            time.sleep(0.1)
        os.kill(compiler, signal.SIGKILL)
        raise AssertionError("the compiler goes on")
    finally:
        os.kill(keeper, signal.SIGKILL)


def test_temporary_files_lie_where_the_linker_finds_them(tmp_path: Path) -> None:
    """It takes a path with a space in it for two."""
    spaced = tmp_path / "with a space"
    spaced.mkdir()
    code = (
        "import torch, torch2mlir\n"
        "print(torch2mlir.compile(torch.sin, torch.zeros(3), engine='iree')(torch.zeros(3)).sum())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(spaced)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0 and "tensor(0.)" in ran.stdout, ran.stderr
