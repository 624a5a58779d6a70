"""IREE on the CPU, compiler and runtime in this process.

Choices, measured with IREE 3.13 on two cores (BERT-base sized, 128 tokens, weights as arguments):

- data tiling on: 133 ms against 154; a 1x1 convolution runs 6 times faster. Higher
  ``--iree-opt-level`` gains nothing and drops ``cf.assert``, the bounds checks of programs;
- convolutions as products of unfolded images: ResNet-50 takes 66 ms against 1091 through TOSA (channels last) and
  98 against 198 through Linalg (channels first);
- ``local-task`` with PyTorch's number of threads: 154 ms against 259 on ``local-sync``, for 10 us more
  per call. With one thread ``local-sync`` is used;
- no data tiling for dynamic shapes: softmax before a product of dynamic batch and length does not compile with it
  ('affine.delinearize_index' of a size 0), and a ViT of dynamic batch gives wrong numbers. Some static programs
  do not compile with it either ('linalg.pack' of i1) and are compiled again without;
- an argument that a program computes into (the outs of a linalg.generic that reads them, the destination of a
  tensor.insert_slice, what stablehlo.sort orders) is updated in place, in the caller's memory; our Linalg lowerings
  compute into fresh tensors only, and a StableHLO program with such an op gets copies;
- f64 stays f64: IREE demotes it to f32 by default. i64 is never demoted;
- functions of f64 (sin, atan, fmod) are calls to the C library, which a program in IREE's own format cannot reach:
  such a program becomes a library of the system, linked by IREE's own linker, which finds them in this process.

Facts about memory: tensors go in and come out through DLPack without a copy. IREE maps an address
that is a multiple of 64 and refuses any other, so such a tensor (a view into a larger one, a
memory-mapped file) is copied. An imported buffer of no bytes crashes ``local-task``. A function
that returns an argument returns its very buffer; the copy the engine interface promises is made
here.

Facts about programs: the entry must be public, and ``torch.*`` attributes on its arguments are
refused; a dispatch takes at most 32 buffers, so an elementwise chain over more tensors compiles and
then fails to load; StableHLO convolutions with padding and a window larger than 1x1 run 40 times
slower than ``linalg.conv_2d_*`` after ``tensor.pad``.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from functools import cache
from typing import Any, ClassVar

import iree.compiler.version
import iree.runtime as rt
import torch
from iree.compiler.api import Invocation, Output, Session, Source
from iree.compiler.tools.binaries import find_tool
from torch.utils.dlpack import from_dlpack, to_dlpack  # type: ignore[attr-defined]

from torch2mlir.errors import EngineError
from torch2mlir.runtime.diagnostics import compile_error, shortened
from torch2mlir.runtime.engine import Engine, Executable, Prepared, host_tensor
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec

_INPUT_TYPES = {"stablehlo": "stablehlo", "tosa": "tosa", "linalg-on-tensors": "none"}
_FLAGS = (
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)
_TILED = ("--iree-opt-data-tiling", "--iree-global-opt-use-im2col-for-convs")
_CALLS_C_LIBRARY = re.compile(
    r"math\.(?!absf|ceil|copysign|floor|fma|sqrt|trunc)\w+ .* : f64|arith\.remf .* : f64"
    r"|(stablehlo|chlo)\.(?!abs|add|broadcast|ceil|constant|divide|floor|multiply|sqrt|subtract)\w+ .*xf64>"
)
_WRITES_ARGUMENTS = re.compile(r"stablehlo\.(sort|scatter|dynamic_update_slice)\b")
_TEXT_NAME = "program.mlir"
_ALIGNMENT = 64
_DLPACK_CPU = 1
# What the runtime raises, by status code.
_RUNTIME_ERRORS = (RuntimeError, ValueError, IndexError, NotImplementedError, MemoryError)


class IreeEngine(Engine):
    """Compiles StableHLO, Linalg-on-Tensors and TOSA, static or dynamic, with IREE's llvm-cpu."""

    name = "iree"
    output_types = frozenset(_INPUT_TYPES)
    has_portable_code = True
    passes: ClassVar[Mapping[str, Sequence[str]]] = {"tosa": ("tosa-nested-branches-to-scf",)}

    def __init__(self) -> None:
        threads = torch.get_num_threads()
        rt.flags.parse_flags(f"--task_topology_max_group_count={threads}")
        self._instance = rt.VmInstance()
        self._device = rt.get_device("local-task" if threads > 1 else "local-sync")
        self._hal = rt.create_hal_module(self._instance, self._device)

    def compile(self, function: LoweredFunction) -> IreeExecutable:
        output_type = function.target.name
        self.check_output_type(output_type)
        is_static = function.is_static
        # IREE and other MLIR builds disagree on TOSA's custom syntax.
        text = function.text(generic=True if output_type == "tosa" else None)
        try:
            bytecode = _compile_to_bytecode(text, output_type, *(_TILED if is_static else ()))
        except EngineError:
            if not is_static:
                raise
            bytecode = _compile_to_bytecode(text, output_type)
        writes = _WRITES_ARGUMENTS.search(text) is not None
        return self._load(bytecode, function, writes)

    def version(self) -> str:
        return " ".join([iree.compiler.version.VERSION, *_FLAGS, *_TILED])

    def code(self, executable: Executable) -> bytes:
        assert isinstance(executable, IreeExecutable)
        return bytes([executable.writes_arguments]) + executable.bytecode

    def load(self, code: bytes, function: LoweredFunction) -> IreeExecutable:
        _show_c_library()
        return self._load(code[1:], function, code[:1] == b"\1")

    def _load(
        self, bytecode: bytes, function: LoweredFunction, writes_arguments: bool
    ) -> IreeExecutable:
        try:
            module = rt.VmModule.copy_buffer(self._instance, bytecode)
            context = rt.VmContext(self._instance, [self._hal, module])
            entry = module.lookup_function(function.name)
        except _RUNTIME_ERRORS as error:
            raise EngineError(
                f"IREE cannot load the compiled program: {shortened(str(error))}",
                dialect=function.target.name,
            ) from error
        return IreeExecutable(self._device, context, entry, function, writes_arguments, bytecode)


class IreeExecutable(Executable):
    """A function IREE has compiled. Calls from several threads take turns."""

    def __init__(
        self,
        device: Any,
        context: Any,
        entry: Any,
        function: LoweredFunction,
        writes_arguments: bool,
        bytecode: bytes,
    ) -> None:
        super().__init__(function)
        self._device = device
        self._context = context
        self._entry = entry
        self.writes_arguments = writes_arguments
        self.bytecode = bytecode
        self._lock = threading.Lock()

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        dense = _aligned(tensor)
        return Prepared(
            dense if self.writes_arguments else self._import(dense),
            tensor.dtype,
            tuple(tensor.shape),
            dense.data_ptr(),
            dense.data_ptr() == tensor.data_ptr(),
        )

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        function = self.function
        views = rt.VmVariantList(len(args))
        pointers = {0}
        for arg in args:
            if type(arg) is not Prepared:
                arg = self.prepare(arg)
            handle = arg.handle
            views.push_ref(self._import(handle.clone()) if self.writes_arguments else handle)
            pointers.add(arg.pointer)
        results = rt.VmVariantList(len(function.results))
        try:
            with self._lock:
                self._context.invoke(self._entry, views, results)
        except _RUNTIME_ERRORS as error:
            raise EngineError(
                f"IREE failed to run @{function.name}: {shortened(str(error))}"
            ) from error
        tensors = []
        for index, spec in enumerate(function.results):
            tensor = self._export(results.get_as_object(index, rt.HalBufferView), spec)
            if tensor.data_ptr() in pointers:
                tensor = tensor.clone()
            pointers.add(tensor.data_ptr())
            tensors.append(tensor)
        return tensors

    def _import(self, tensor: torch.Tensor) -> Any:
        if tensor.numel():
            return self._device.from_dlpack_capsule(to_dlpack(tensor))
        # local-task crashes on dispatches over imported buffers of no bytes: view a larger one.
        one = self._device.from_dlpack_capsule(to_dlpack(tensor.new_zeros(1)))
        return rt.HalBufferView(one.get_buffer(), list(tensor.shape), one.element_type)

    def _export(self, view: Any, spec: TensorSpec) -> torch.Tensor:
        """The result as the program declares it: IREE returns signless integers and bytes."""
        tensor = from_dlpack(self._device.create_dlpack_capsule(view, _DLPACK_CPU, 0))
        if tensor.dtype is spec.dtype:
            return tensor
        if tensor.dtype.itemsize != spec.dtype.itemsize:
            raise EngineError(f"IREE returned {tensor.dtype} where the program declares {spec}")
        return tensor.view(spec.dtype)


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor dense and at an address IREE maps; a copy where it is not."""
    tensor = host_tensor(tensor)
    return tensor.clone() if tensor.data_ptr() % _ALIGNMENT else tensor


_DiagnosticCallback = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)
_SEVERITY_ERROR = 2


@cache
def _show_c_library() -> None:
    """Makes functions of the C library visible in this process to programs that call them."""
    ctypes.CDLL(find_library("m"), mode=ctypes.RTLD_GLOBAL)


@cache
def _system_library_flags() -> tuple[str, ...]:
    """Flags for a program that calls functions of the C library."""
    _show_c_library()
    flags = ("--iree-llvmcpu-link-embedded=false",)
    if sys.platform != "linux":
        return flags
    return (*flags, f"--iree-llvmcpu-system-linker-path={find_tool('iree-lld')} -flavor gnu")


def _compile_to_bytecode(text: str, output_type: str, *flags: str) -> bytes:
    with Session() as session:
        if _CALLS_C_LIBRARY.search(text):
            flags = (*flags, *_system_library_flags())
        session.set_flags(*_FLAGS, *flags, f"--iree-input-type={_INPUT_TYPES[output_type]}")
        with session.invocation() as invocation:
            errors: list[str] = []

            @_DiagnosticCallback
            def collect(severity: int, message: int, size: int, _data: int) -> None:
                if severity == _SEVERITY_ERROR:
                    errors.append(ctypes.string_at(message, size).decode(errors="replace"))

            _send_diagnostics(invocation, collect)
            # IREE parses in place up to the terminating zero.
            source = Source.wrap_buffer(session, text.encode() + b"\0", buffer_name=_TEXT_NAME)
            if not (invocation.parse_source(source) and invocation.execute()):
                raise compile_error("IREE", output_type, "\n".join(errors), text, _TEXT_NAME)
            with Output.open_membuffer() as output:
                try:
                    invocation.output_vm_bytecode(output)
                except ValueError as error:
                    raise EngineError(
                        f"IREE cannot write the compiled program: {error}", dialect=output_type
                    ) from error
                return bytes(output.map_memory())


def _send_diagnostics(invocation: Invocation, callback: Any) -> None:
    """Send diagnostics to ``callback``: in IREE's C interface, but not in its Python wrapper."""
    enable = invocation._local_dylib.ireeCompilerInvocationEnableCallbackDiagnostics
    enable.restype = None
    enable.argtypes = [ctypes.c_void_p, ctypes.c_int, _DiagnosticCallback, ctypes.c_void_p]
    enable(invocation._inv_p, 0, callback, None)
