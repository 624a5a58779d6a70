"""ONNX Runtime on the CPU.

What is used of it beside ``InferenceSession``: ``SessionOptions.add_external_initializers`` (weights are read where
PyTorch has them), and the classes behind the public ones, ``OrtValue.from_dlpack`` and ``run_with_ort_values``, which
take and give memory without a copy. All such calls are in this file.

Facts about ONNX Runtime 1.31:

- an operator has kernels for some element types only: ``onnx-widen-for-onnxruntime`` casts around the others;
- kernels that are there for f32 alone (``Conv``, ``Erf``, ``Acos``, ..) refuse f64 when the session is made;
- a division of integers by zero ends the process: the conversion divides by another number there;
- ``ReduceMax``, ``ReduceMin``, ``ArgMax``, ``MaxPool`` and ``TopK`` lose NaNs; ``Pow``, ``ReduceSum``, ``ReduceProd``
  and ``Mod`` with ``fmod`` round integers to 53 bits; a window of ``MaxPool`` without a finite number gives the lowest
  one: the conversion says these otherwise;
- ``ScatterND`` that combines adds to one place from several threads at once: programs with many such updates have one;
- positions outside a tensor are errors, as in PyTorch;
- weights are packed for its matrix products when a session is made, beside PyTorch's own copy.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, ClassVar

import onnxruntime as ort
import torch
from onnxruntime.capi import _pybind_state
from torch._C import _from_dlpack as _from_capsule
from torch.utils.dlpack import to_dlpack  # type: ignore[attr-defined]
from xdsl.dialects.builtin import DYNAMIC_INDEX, f64
from xdsl.dialects.func import FuncOp

from torch2mlir.dialects.onnx.model import SIZES_FROM_DATA, model_of
from torch2mlir.dialects.placing import ops_in
from torch2mlir.dialects.tensors import element_of, shape_of
from torch2mlir.errors import EngineError
from torch2mlir.frontends.tensor_kinds import TensorKinds
from torch2mlir.program import entry_function
from torch2mlir.runtime.diagnostics import ANOTHER, run_error, shortened
from torch2mlir.runtime.engine import Engine, Executable, Prepared, Run, host_tensor
from torch2mlir.runtime.lowered import LoweredFunction

MOST_SESSIONS = 3
"""After so many sessions for changed weights these are passed as inputs, which packs nothing."""


class OnnxRuntimeEngine(Engine):
    """Runs ONNX, static or dynamic, with ONNX Runtime's kernels for the CPU."""

    name = "onnxruntime"
    output_types = frozenset({"onnx"})
    builds_weights_in = True
    takes_empty_tensors = False
    passes: ClassVar[Mapping[str, Sequence[str]]] = {
        "onnx": (
            "onnx-rows-to-scatter-nd",
            "onnx-functions-by-formulas",
            "onnx-sums-of-zeros",
            "onnx-sums-in-doubles",
            "onnx-long-sums-by-parts",
            "onnx-where-keeps-zeros",
            "onnx-widen-for-onnxruntime",
            "onnx-extrema-of-integers",
        )
    }

    def compile(self, function: LoweredFunction) -> OnnxRuntimeExecutable:
        self.check_output_type(function.target.name)
        return OnnxRuntimeExecutable(function)


class _Session:
    """A loaded model; ``held`` are the arguments that are built into it, by position."""

    def __init__(self, function: LoweredFunction, held: Mapping[int, Prepared]) -> None:
        self.held = held
        names = {position: f"weight_{position}" for position in held}
        entry = entry_function(function.module, function.name)
        proto = model_of(entry, names).proto
        options = _options(function)
        read = [position for position in held if entry.body.block.args[position].first_use]
        options.add_external_initializers(
            [names[position] for position in read],
            [ort.OrtValue(held[position].handle) for position in read],
        )
        try:
            session = ort.InferenceSession(
                proto.SerializeToString(),
                options,
                providers=["CPUExecutionProvider"],
                disabled_optimizers=_left_out(entry),
            )
        except Exception as error:  # pybind's exceptions have no common base
            raise EngineError(
                f"ONNX Runtime refuses the program: {shortened(str(error))}",
                dialect="onnx",
                hint=ANOTHER,
            ) from error
        self.inputs = [each.name for each in proto.graph.input]
        self.outputs = [each.name for each in proto.graph.output]
        self.run = session._sess.run_with_ort_values


_DIES_OF_NOTHING = "MatmulTransposeFusion"
"""Its kernel divides by the number of rows where the first two dimensions of three are exchanged."""
_SCALES_IN_32_BITS = "MatMulScaleFusion"
"""A number that a product of matrices is multiplied with becomes one of 32 bits."""
_PADS_IMAGES_BY_KERNELS = "Pad_Fusion"
"""It takes the padding of any operand of a convolution for that of the image, and refuses the program."""


def _left_out(entry: FuncOp) -> list[str]:
    """Optimizations that a program does not get."""
    has_doubles = any(
        op.name == "onnx.MatMul" and element_of(op.results[0]) == f64 for op in ops_in(entry)
    )
    pads_kernels = any(
        op.name == "onnx.Conv" and getattr(op.operands[1].owner, "name", "") == "onnx.Pad"
        for op in ops_in(entry)
    )
    known = (
        (_PADS_IMAGES_BY_KERNELS, pads_kernels),
        (_DIES_OF_NOTHING, SIZES_FROM_DATA in entry.attributes),
        (_SCALES_IN_32_BITS, has_doubles),
    )
    return [name for name, is_left_out in known if is_left_out]


def _options(function: LoweredFunction) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1 if _combines_rows(function) else torch.get_num_threads()
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors come as exceptions
    options.enable_mem_pattern = function.is_static  # a plan of memory for every new shape stays
    return options


_FEW_ELEMENTS = 1 << 14
"""Which ``ScatterND`` never shares out among threads; it does from some 100,000 on."""


def _combines_rows(function: LoweredFunction) -> bool:
    """Whether threads may meet in a place that several updates are added to."""
    for op in ops_in(function.entry):
        if op.name == "onnx.ScatterND" and "reduction" in op.properties:
            sizes = shape_of(op.operands[2])
            if DYNAMIC_INDEX in sizes or math.prod(sizes) > _FEW_ELEMENTS:
                return True
    return False


class OnnxRuntimeExecutable(Executable):
    """A function ONNX Runtime runs. Safe to call from several threads at once.

    Weights are part of a session, which packs them: one that has changed makes a new session.
    """

    def __init__(self, function: LoweredFunction) -> None:
        super().__init__(function)
        self._lock = threading.Lock()
        self._session: _Session | None = None
        self._bound: _Bound | None = None
        self._made = 0

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        dense = host_tensor(tensor)
        pointer = dense.data_ptr()
        shared = pointer == tensor.data_ptr()
        return Prepared(_lent(dense), tensor.dtype, tuple(tensor.shape), pointer, shared)

    def holding(self, held: Mapping[int, Prepared]) -> Run:
        if not self.function.results:  # a program whose results were all known when it was compiled
            return lambda arguments: []
        bound = _Bound(self._session_for(held), self.function, held)
        self._bound = bound
        return bound

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        bound = self._bound
        if bound is None or any(args[place] is not h for place, h in bound.held.items()):
            held = {place: arg for place, arg in enumerate(args) if type(arg) is Prepared}
            return self.holding(held)([arg for arg in args if type(arg) is not Prepared])
        return bound([arg for place, arg in enumerate(args) if place not in bound.held])

    def _session_for(self, held: Mapping[int, Prepared]) -> _Session:
        with self._lock:
            if self._session is not None and not self._session.held:
                return self._session
            self._made += 1
            self._session = _Session(self.function, held if self._made <= MOST_SESSIONS else {})
            return self._session


class _Bound:
    """A session with all tensors that are held, built in or to be passed, as a function of the other arguments."""

    def __init__(
        self, session: _Session, function: LoweredFunction, held: Mapping[int, Prepared]
    ) -> None:
        self.held = held
        self._session = session
        self._function = function
        self._pointers = frozenset({0, *(each.pointer for each in held.values())})
        passed = [i for i in range(len(function.arguments)) if i not in session.held]
        names = dict(zip(passed, session.inputs, strict=True))
        self._passed = {name: held[i].handle for i, name in names.items() if i in held}
        self._names = [name for i, name in names.items() if i not in held]
        self._dtypes = [result.dtype for result in function.results]
        self._dense: TensorKinds | None = None
        """Of arguments that ONNX Runtime can read as they are."""

    def __call__(self, arguments: Sequence[Any]) -> list[torch.Tensor]:
        feeds, pointers = self._passed.copy(), list[int]()
        dense = self._dense
        if dense is not None and dense.are_of(arguments):
            for name, argument in zip(self._names, arguments, strict=True):
                feeds[name] = _lent(argument)
                pointers.append(argument.data_ptr())
        else:
            read = list[torch.Tensor]()
            for name, argument in zip(self._names, arguments, strict=True):
                if type(argument) is Prepared:
                    feeds[name] = argument.handle
                    pointers.append(argument.pointer)
                else:
                    tensor = host_tensor(argument)
                    read.append(tensor)
                    feeds[name] = _lent(tensor)
                    pointers.append(tensor.data_ptr())
            are_themselves = len(read) == len(arguments) and all(map(is_, read, arguments))
            self._dense = TensorKinds.of(read) if are_themselves else None
        try:
            results = self._session.run(feeds, self._session.outputs, None)
        except Exception as error:  # pybind's exceptions have no common base
            raise run_error("ONNX Runtime", self._function, error) from error
        # going through the vector itself makes an iterator class for every call
        return [self._result(i, results[i], pointers) for i in range(len(results))]

    def _result(self, index: int, value: Any, pointers: list[int]) -> torch.Tensor:
        """A result as the program declares it, in memory that is no other's."""
        tensor = _from_capsule(value.to_dlpack())
        wanted = self._dtypes[index]
        if tensor.dtype is not wanted:
            tensor = tensor.view(wanted)
        pointer = tensor.data_ptr()
        if pointer in pointers or pointer in self._pointers:
            tensor = tensor.clone()
            pointer = tensor.data_ptr()
        pointers.append(pointer)
        return tensor


def _lent(tensor: torch.Tensor) -> Any:
    """A dense tensor's memory as ONNX Runtime's value; DLPack says of booleans that they are bytes."""
    is_bool = tensor.dtype is torch.bool
    capsule = to_dlpack(tensor.view(torch.uint8) if is_bool else tensor)
    return _pybind_state.OrtValue.from_dlpack(capsule, is_bool)
