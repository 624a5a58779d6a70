"""Tools we did not write, to check text with: torch-mlir-opt, IREE's optimizer and XLA's reader.

A missing tool skips the test that asks for it; a refusal fails it with the tool's own message.
"""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SECONDS = 300


def torch_mlir_opt(text: str | bytes, *args: str) -> str:
    """What `torch-mlir-opt` of the published torch-mlir package makes of `text`, or of bytecode."""
    spec = find_spec("torch_mlir")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("torch-mlir is not installed (tests/requirements-oracle.txt)")
    binary = Path(spec.submodule_search_locations[0]) / "_mlir_libs" / "torch-mlir-opt"
    return _run([str(binary), *args, "-"], text)


def with_alignment_of_bytecode(text: str) -> str:
    """A text with its resources aligned as they are in bytecode: to 16 bytes, where texts say 64."""
    return re.sub(r': "0x40000000', ': "0x10000000', text)


def iree_opt(text: str, *args: str) -> str:
    """What `iree-opt` of the IREE compiler package makes of `text`."""
    return _run([_iree_tool("iree-opt"), *args, "-"], text)


def iree_compile_to_input(text: str, *args: str) -> str:
    """`text` after IREE's input conversion, the part that knows the three dialects."""
    flags = ["--compile-to=input", "--iree-hal-target-backends=llvm-cpu"]
    return _run([_iree_tool("iree-compile"), *flags, *args, "-"], text)


def read_by_xla(text: str | bytes) -> str:
    """`text`, or bytecode, of StableHLO as XLA's MLIR reads it, verified and written."""
    ir = pytest.importorskip("jaxlib.mlir.ir")
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    with ir.Context() as context:
        context.append_dialect_registry(registry)
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        module = ir.Module.parse(text)
        module.operation.verify()
        return str(module)


def _iree_tool(name: str) -> str:
    beside = Path(sys.executable).parent / name
    tool = str(beside) if beside.exists() else shutil.which(name)
    if tool is None:
        pytest.skip(f"{name} is not installed (the package iree-base-compiler)")
    return tool


def _run(command: list[str], text: str | bytes) -> str:
    given = text.encode() if isinstance(text, str) else text
    done = subprocess.run(command, input=given, capture_output=True, timeout=SECONDS)
    if done.returncode:
        lines = done.stderr.decode().strip().splitlines()[:20]
        pytest.fail(f"{Path(command[0]).name} refused the text:\n" + "\n".join(lines))
    return done.stdout.decode()
