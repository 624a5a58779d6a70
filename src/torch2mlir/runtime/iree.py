"""IREE on the CPU: its runtime in this process, its compiler in one beside it (``iree_compiler``).

Choices, measured with IREE 3.13 on two cores (BERT-base sized, 128 tokens, weights as arguments):

- data tiling on: 133 ms against 154; a 1x1 convolution runs 6 times faster. Higher
  ``--iree-opt-level`` gains nothing and drops ``cf.assert``, the bounds checks of programs;
- convolutions as products of unfolded images: ResNet-50 takes 66 ms against 1091 through TOSA (channels last) and
  98 against 198 through Linalg (channels first);
- ``local-task`` with PyTorch's number of threads: 154 ms against 259 on ``local-sync``, for 10 us more
  per call. With one thread ``local-sync`` is used, for small programs (``small_programs``), and where loops or branches
  meet updates or unknown sizes, of which it loses track with several threads (``runs_in_turn``);
- depthwise convolutions are loops over slices (``depthwise-to-sums``): the named ops are up to 50 times slower;
- products of weights and more than one row are written in tiles (``packed_weights``), and the weights' tiles made once:
  data tiling rearranges them at every call;
- no data tiling for products of one row: the weights, arguments as they are, would be rearranged at every call, which
  goes through memory three times;
- data tiling from global optimization on: from dispatch creation on, which ``--iree-opt-data-tiling`` stands for, it is
  as fast, and takes the wrong elements of a product's operand that a row's factor was broadcast over;
- no data tiling for dynamic shapes: softmax before a product of dynamic batch and length does not compile with it
  ('affine.delinearize_index' of a size 0), and a ViT of dynamic batch or experts of a number of rows that depends on
  data give wrong numbers. Some static programs do not compile with it either ('linalg.pack' of i1) and are compiled
  again without;
- an argument that a program computes into (the outs of a linalg.generic that reads them, the destination of a
  tensor.insert_slice, what stablehlo.sort orders) is updated in place, in the caller's memory: the program copies it
  first (``own_written_arguments``; our Linalg lowerings compute into fresh tensors only);
- what is computed into without having been read from memory is a tensor of its own (``own_unread_memory``);
- dispatches in the program's order: where IREE lets some run at a time, it puts an update in place (a scatter) before
  those that read what is updated. In order costs nothing measurable (BERT-base, ResNet-50, MobileNet-v2, Llama of one
  token, a small MLP), for each runs on all threads;
- where loops or branches meet unknown sizes, tensors follow each other byte by byte: IREE's ranges of integers have no
  entry for ``util.align`` of an unknown size, and its optimizer then takes the offset of a tensor that a loop or branch
  hands on for that of any other tensor at the same place (docs/engines.md). With an alignment of 1 there is no such op;
  without loops and branches it is 16, for complex128 is read and memory is filled at such places only;
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
import json
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from ctypes.util import find_library
from dataclasses import replace
from functools import cache, cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import iree.compiler.version
import iree.runtime as rt
import torch
from torch.utils.dlpack import from_dlpack, to_dlpack  # type: ignore[attr-defined]

from torch2mlir.errors import EngineError
from torch2mlir.runtime.diagnostics import (
    ANOTHER,
    LEFT_TO_PYTORCH,
    failed_check,
    run_error,
    shortened,
)
from torch2mlir.runtime.engine import (
    Engine,
    Executable,
    Prepared,
    best_dialect,
    close_at_exit,
    free_after_results,
    host_tensor,
)
from torch2mlir.runtime.forks import ThreadsOf
from torch2mlir.runtime.iree_compiler import compile_to_bytecode, system_linker_flags
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec
from torch2mlir.runtime.refused_op import with_model_line
from torch2mlir.runtime.small_programs import is_small

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp

_INPUT_TYPES = {"stablehlo": "stablehlo", "tosa": "tosa", "linalg-on-tensors": "none"}
_FLAGS = (
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-input-demote-f64-to-f32=false",
)
_TILED, _UNFOLDED = "--iree-global-opt-data-tiling", "--iree-global-opt-use-im2col-for-convs"
_PRODUCTS = frozenset({"linalg.batch_matmul", "linalg.matmul", "linalg.mmt4d", "tosa.matmul"})
_CALLS_C_LIBRARY = re.compile(
    r"math\.(?!absf|ceil|copysign|floor|fma|sqrt|trunc)\w+ .* : f64|arith\.remf .* : f64"
    r"|(stablehlo|chlo)\.(?!abs|add|broadcast|ceil|constant|divide|floor|multiply|sqrt|subtract)\w+ .*xf64>"
)
_HAS_LOOPS = re.compile(r"\b(?:scf\.(?:for|while)|tosa\.while_loop|stablehlo\.while)\b")
# Loops, branches and calls, also in forms that only text of others has.
_HANDS_ON = re.compile(
    r"\b(?:scf\.(?:for|while|if|forall|parallel|index_switch|execute_region)|cf\.(?:br|cond_br|switch)"
    r"|tosa\.(?:while_loop|cond_if)|stablehlo\.(?:while|if|case|composite)|func\.call|(?<!_)call [@%])"
)
_HAS_UNKNOWN_SIZES = re.compile(r"tensor<(?:\d+x)*\?")
# Flags of the whole compiler; why: see the docstring.
_PROCESS = ("--iree-stream-partitioning-favor=debug",)
_DYNAMIC_PROCESS = (*_PROCESS, "--iree-stream-resource-min-offset-alignment=16")
_HANDS_ON_PROCESS = (*_PROCESS, "--iree-stream-resource-min-offset-alignment=1")
_HEADER = "header=3"
_ALIGNMENT = 64
_DLPACK_CPU = 1
# What the runtime raises, by status code.
_RUNTIME_ERRORS = (RuntimeError, ValueError, IndexError, NotImplementedError, MemoryError)


class IreeEngine(Engine):
    """Compiles StableHLO, Linalg-on-Tensors and TOSA, static or dynamic, with IREE's llvm-cpu."""

    name = "iree"
    output_types = frozenset(_INPUT_TYPES)
    has_portable_code = True
    passes: ClassVar[Mapping[str, Sequence[str]]] = {
        "linalg-on-tensors": (
            "linalg-loops-to-iree",
            "depthwise-to-sums",
            "extend-bfloat16-by-bits",
            "integers-to-bfloat16-by-bits",
            "keep-small-arguments",
            "reduce-angles",
            "remainders-by-quotients",
            "divisions-that-do-not-trap",
            "erf-of-doubles",
            "round-by-sums",
            "reductions-by-columns",
            "long-sums-in-doubles",
            "concats-of-parts",
            "products-before-sums",
            "keep-terms-of-sums",
            "compute-reductions-first",
            "compute-slices-first",
            "compute-masks-first",
            "bind-few-tensors",
            "end-at-loops",
        ),
        "stablehlo": (
            "stablehlo-products-of-one-term",
            "stablehlo-sizes-of-signless",
            "stablehlo-functions-to-linalg",
            "stablehlo-complex-pads-by-parts",
            "stablehlo-scatters-from-the-front",
            "stablehlo-pack-sorts",
            "stablehlo-sorts-by-position",
            "extend-bfloat16-by-bits",
            "integers-to-bfloat16-by-bits",
            "keep-small-arguments",
            "reduce-angles",
            "erf-of-doubles",
            "stablehlo-hold-identities",
            "concats-of-parts",
            "long-sums-in-doubles",
            "products-before-sums",
            "keep-terms-of-sums",
            "compute-reductions-first",
            "compute-slices-first",
            "compute-masks-first",
            "bind-few-tensors",
            "end-at-loops",
        ),
        "tosa": (
            "tosa-few-sums-to-scatters",
            "tosa-integer-sums-to-scans",
            "tosa-scatters-to-iree",
            "tosa-hits-to-scatters",
            "linalg-loops-to-iree",
            "extend-bfloat16-by-bits",
            "integers-to-bfloat16-by-bits",
            "tosa-control-flow-to-scf",
            "keep-small-arguments",
            "reduce-angles",
            "tosa-extrema-to-linalg",
            "tosa-positions-to-linalg",
            "tosa-products-of-one-row",
            "tosa-products-of-one-term",
            "depthwise-to-sums",
            "tosa-transposed-to-convolutions",
            "tosa-biases-apart",
            "tosa-hold-zeros",
            "reductions-by-columns",
            "long-sums-in-doubles",
            "tosa-elementwise-to-linalg",
            "concats-of-parts",
            "divisions-that-do-not-trap",
            "keep-terms-of-sums",
            "compute-reductions-first",
            "compute-slices-first",
            "compute-masks-first",
            "bind-few-tensors",
            "end-at-loops",
        ),
    }

    def __init__(self) -> None:
        threads = torch.get_num_threads()
        rt.flags.parse_flags(f"--task_topology_max_group_count={threads}")
        self._instance = rt.VmInstance()
        self._device = rt.get_device("local-task" if threads > 1 else "local-sync")
        self._hal = rt.create_hal_module(self._instance, self._device)
        self._threads = ThreadsOf("IREE") if threads > 1 else None
        free_after_results(self._device)
        close_at_exit(self)

    def close(self) -> None:
        self.__dict__.clear()

    @cached_property
    def _in_turn(self) -> tuple[Any, Any]:
        """The device that runs what is dispatched one after the other, and its module."""
        device = rt.get_device("local-sync")
        free_after_results(device)
        return device, rt.create_hal_module(self._instance, device)

    def compile(self, function: LoweredFunction) -> IreeExecutable:
        # imports dialects, which whoever loads an artefact does without
        from torch2mlir.engine_passes.compute_before_gathers import compute_before_gathers
        from torch2mlir.engine_passes.own_handed_on import own_handed_on
        from torch2mlir.engine_passes.own_in_regions import own_in_regions
        from torch2mlir.engine_passes.own_unread_memory import own_unread_memory
        from torch2mlir.engine_passes.own_written_arguments import own_written_arguments
        from torch2mlir.engine_passes.runs_in_turn import runs_in_turn
        from torch2mlir.engine_passes.stop_at_checks import stop_at_checks

        output_type = function.target.name
        self.check_output_type(output_type)
        function = replace(function, source=None)  # the text of what the following makes of it
        if len(function.entry.body.blocks) > 1:
            raise EngineError(
                f"@{function.name} jumps between blocks (cf.br, cf.cond_br), which IREE is not given",
                dialect=output_type,
                hint="write loops and branches with regions, scf.while and scf.if; the reference engine takes jumps",
            )
        own_unread_memory(function.entry)
        own_written_arguments(function.entry)
        own_in_regions(function.entry)
        own_handed_on(function.entry)
        compute_before_gathers(function.entry)
        stop_at_checks(function.entry, function.checks)
        text = _text(function)
        try:
            bytecode = _compile(function, text)
        except EngineError as error:
            if output_type != (usual := best_dialect(self)):
                error.hint = f"output type {usual!r} takes more programs; {LEFT_TO_PYTORCH}"
            raise with_model_line(error, function, _try) from error
        in_turn = runs_in_turn(function.entry) or is_small(function)
        return self._load(bytecode, function, in_turn)

    def pack_weights(self, function: FuncOp, weights: Collection[int]) -> None:
        from torch2mlir.engine_passes.packed_weights import pack_weights

        is_wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
        pack_weights(function, weights, columns=16 if is_wide else 8)

    def version(self) -> str:
        flags = (*_FLAGS, *_DYNAMIC_PROCESS, *_HANDS_ON_PROCESS, _TILED, _UNFOLDED)
        return " ".join([iree.compiler.version.VERSION, *flags, _HEADER])

    def code(self, executable: Executable) -> bytes:
        assert isinstance(executable, IreeExecutable)
        header = {"in_turn": executable.in_turn}
        return json.dumps(header).encode() + b"\n" + executable.bytecode

    def load(self, code: bytes, function: LoweredFunction) -> IreeExecutable:
        _show_c_library()
        header, _, bytecode = code.partition(b"\n")
        return self._load(bytecode, function, json.loads(header)["in_turn"])

    def _load(self, bytecode: bytes, function: LoweredFunction, in_turn: bool) -> IreeExecutable:
        device, hal = self._in_turn if in_turn else (self._device, self._hal)
        try:
            module = rt.VmModule.copy_buffer(self._instance, bytecode)
            context = rt.VmContext(self._instance, [hal, module])
            entry = module.lookup_function(function.name)
        except _RUNTIME_ERRORS as error:
            raise EngineError(
                f"IREE cannot load the compiled program: {shortened(str(error))}",
                dialect=function.target.name,
                hint=ANOTHER,
            ) from error
        threads = None if in_turn else self._threads
        return IreeExecutable(device, context, entry, function, in_turn, bytecode, threads)


class IreeExecutable(Executable):
    """A function IREE has compiled. Calls from several threads take turns."""

    reports_handles = True

    def __init__(
        self,
        device: Any,
        context: Any,
        entry: Any,
        function: LoweredFunction,
        in_turn: bool,
        bytecode: bytes,
        threads: ThreadsOf | None,
    ) -> None:
        super().__init__(function)
        self._threads = threads
        self._device = device
        self._context = context
        self._entry = entry
        self.in_turn = in_turn
        self.bytecode = bytecode
        self._lock = threading.Lock()
        close_at_exit(self)

    def close(self) -> None:
        self._device = self._context = self._entry = None

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        if self._device is None:
            raise EngineError(f"@{self.function.name} cannot be called any more: Python is ending")
        dense = _aligned(tensor)
        return Prepared(
            (self._import(dense), dense),
            tensor.dtype,
            tuple(tensor.shape),
            dense.data_ptr(),
            dense.data_ptr() == tensor.data_ptr(),
        )

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        function, context = self.function, self._context
        if context is None:
            raise EngineError(f"@{function.name} cannot be called any more: Python is ending")
        if self._threads is not None:
            self._threads.check("cannot run a program")
        views = rt.VmVariantList(len(args))
        pointers = {0}
        for arg in args:
            if type(arg) is not Prepared:
                arg = self.prepare(arg)
            views.push_ref(arg.handle[0])
            pointers.add(arg.pointer)
        results = rt.VmVariantList(len(function.results))
        try:
            with self._lock:
                context.invoke(self._entry, views, results)
            found = [
                self._export(results.get_as_object(index, rt.HalBufferView), spec)
                for index, spec in enumerate(function.results)
            ]
        except _RUNTIME_ERRORS as error:
            failed = failed_check(str(error))
            if failed is not None:
                return [torch.tensor(place != failed) for place in range(len(function.results))]
            # memory that was never there is seen when it is read
            raise run_error("IREE", function, error) from error
        tensors = []
        for tensor in found:
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


def _text(function: LoweredFunction) -> str:
    # IREE and other MLIR builds disagree on TOSA's custom syntax.
    return function.text(generic=True if function.target.name == "tosa" else None)


def _try(function: LoweredFunction) -> bytes:
    """Without data tiling, which is what a refused program was compiled with last."""
    return _compile_to_bytecode(_text(function), function.target.name)


def _compile(function: LoweredFunction, text: str) -> bytes:
    """Static programs without loops with data tiling, where IREE can and it is worth it."""
    output_type = function.target.name
    if _HAS_UNKNOWN_SIZES.search(text) is None and _HAS_LOOPS.search(text) is None:
        flags = (_UNFOLDED,) if _multiplies_rows_alone(function.module) else (_TILED, _UNFOLDED)
        with suppress(EngineError):
            return _compile_to_bytecode(text, output_type, *flags)
    return _compile_to_bytecode(text, output_type)


def _multiplies_rows_alone(module: ModuleOp) -> bool:
    """Whether most of what is multiplied with is multiplied with one row.

    Not beside convolutions: these as products without data tiling are wrong through TOSA (ResNet-50, batch 1).
    """
    from torch2mlir.dialects.tensors import shape_of

    elements = {True: 0, False: 0}
    for op in module.walk():
        if "conv" in op.name:
            return False
        if op.name in _PRODUCTS:
            first, second = (shape_of(operand) for operand in op.operands[:2])
            elements[first[-2] == 1] += prod(second)
    return elements[True] > elements[False]


@cache
def _show_c_library() -> None:
    """Makes functions of the C library visible in this process to programs that call them."""
    ctypes.CDLL(find_library("m"), mode=ctypes.RTLD_GLOBAL)


def _compile_to_bytecode(text: str, output_type: str, *flags: str) -> bytes:
    if _CALLS_C_LIBRARY.search(text):
        _show_c_library()
        flags = (*flags, *system_linker_flags())
    input_type = f"--iree-input-type={_INPUT_TYPES[output_type]}"
    process_flags = _process_flags(text)
    return compile_to_bytecode(text, output_type, (*_FLAGS, *flags, input_type), process_flags)


def _process_flags(text: str) -> tuple[str, ...]:
    """Those of the whole compiler.

    Raises:
        EngineError: the program hands tensors on, which lets them lie anywhere, and has elements that may not.
    """
    if _HAS_UNKNOWN_SIZES.search(text) is None:
        return _PROCESS
    if _HANDS_ON.search(text) is None:
        return _DYNAMIC_PROCESS
    if "complex<f64>" in text:
        raise EngineError(
            "complex128 beside loops or branches and sizes that vary: IREE reads such elements where they do not lie",
            hint=f"complex64, sizes that do not vary, or XLA; {LEFT_TO_PYTORCH}",
        )
    return _HANDS_ON_PROCESS
