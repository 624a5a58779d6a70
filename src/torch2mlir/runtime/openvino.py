"""OpenVINO on the CPU.

Facts about OpenVINO 2026.4 and its plugin for the CPU:

- 64-bit integers are held in 32 bits, and arguments beyond those are cut off: the intervals of a program's integers are
  found when it is compiled (``integer_ranges``), a program that may leave 32 bits is refused, and integer arguments are
  looked at before every call, and so are dimensions, from which integers come too;
- integers are compared, divided, multiplied as matrices and reduced to extrema as 32-bit floats, which do not hold
  those beyond 2**24: the intervals tell of these too;
- 64-bit floats are computed in 32 bits: a program with any is refused;
- ``exp``, ``max``, ``min``, ``relu``, ``clip``, softmax and pooling lose NaNs: an argument or a weight with one is
  refused. A NaN that a program makes of numbers (the logarithm of -1) may be lost by what comes after it;
- it computes in bf16 where the processor can, unless told to be precise;
- ``TopK`` as read from ONNX does not keep the order of equal elements unless it is told to (``openvino_sorting``), and
  then compares each element with each: sorting long lines is refused, and of sizes that vary, since what is computed
  from the values at a first call of other sizes was wrong (``x * x.topk(2)[0].sum(-1, keepdim=True) + x * 2``);
- positions outside a tensor read 0;
- ``ReduceMax`` begins with the lowest finite number and ``ReduceMin`` with the highest:
  ``onnx-extrema-of-infinities`` gives the infinity where there is nothing else;
- an operator with a neutral operand is left out even where that has more dimensions than the other, so that the result
  has too few: ``onnx-one-rank-of-elements`` gives these dimensions first;
- half floats are held in 32 bits and not rounded: a program with any is refused;
- ``Abs`` of constants is folded to these constants: of integers the conversion says it otherwise, else it is refused;
- ``ReduceSum(x, 2) + b`` of ``[3, 2, 4]`` and ``[2]`` adds wrong elements unless the reduced dimension stays with size
  1 and is dropped by an op of its own: reductions are converted like that;
- remainders of floats are off by as much as the quotient is large, ``erf`` of 1e-10 is 0: a float ``Mod`` is refused,
  and an ``Erf`` unless it is added to a constant, as GELU does;
- it has no ``BitCast``, by which signs are read; a formula by reciprocals is wrong for zeros where sizes vary;
- the sign of a zero is not kept by all of its fusions (``hardswish``, differences of losses, where sizes vary), nor by
  a product with a constant where there is a single row;
- compiling two products of matrices whose argument is read again behind them (``x + linear(linear(x))``) ends the
  process where few rows meet few threads, and so does an attention with elementwise operators of several tensors behind
  it (``openvino_fusions``), or reads them from wrong places: its fusions into one kernel are off for programs
  that have such;
- results of a request are overwritten by its next call: they are written into PyTorch's memory, or copied.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.onnx.model import model_of
from torch2mlir.engine_passes.integer_ranges import COUNTED, MOST, Limits, is_integer, limits_of
from torch2mlir.errors import EngineError, InputError
from torch2mlir.program import entry_function
from torch2mlir.runtime.diagnostics import ANOTHER, run_error, shortened
from torch2mlir.runtime.engine import Engine, Executable, Prepared, Run, host_tensor
from torch2mlir.runtime.lowered import LoweredFunction, TensorSpec
from torch2mlir.runtime.openvino_attention import tell_masked_rows_by_mask
from torch2mlir.runtime.openvino_fusions import is_fused_wrongly
from torch2mlir.runtime.openvino_import import openvino as ov
from torch2mlir.runtime.openvino_jumps import round_where_results_jump
from torch2mlir.runtime.openvino_requests import Request, has_nan, lent
from torch2mlir.runtime.openvino_sorting import (
    MOST_COMPARISONS,
    comparisons,
    is_static,
    stable_sorting,
)
from torch2mlir.runtime.small_programs import is_small

_HARMLESS = {
    *(
        "ArgMax",
        "ArgMin",
        "Cast",
        "Concat",
        "Constant",
        "ConstantOfShape",
        "Equal",
        "Expand",
        "Gather",
    ),
    *("GatherElements", "GatherND", "Greater", "Less", "Pad", "ReduceMax", "ReduceMin", "Reshape"),
    *("Slice", "Squeeze", "Tile", "TopK", "Transpose", "Unsqueeze", "Where", "func.return"),
}
"""Operators that make no integers that are not there."""


class OpenVinoEngine(Engine):
    """Runs ONNX, static or dynamic, with OpenVINO's plugin for the CPU."""

    name = "openvino"
    output_types = frozenset({"onnx"})
    builds_weights_in = True
    takes_empty_tensors = False
    passes: ClassVar[Mapping[str, Sequence[str]]] = {
        "onnx": (
            "onnx-rows-to-scatter-nd",
            "onnx-products-of-two-lines",
            "onnx-extrema-of-infinities",
            "onnx-nans-kept",
            "onnx-magnitudes-by-maxima",
            "onnx-long-sums-by-parts",
            "onnx-images-apart",
            "onnx-kernels-apart",
            "onnx-one-rank-of-elements",
        )
    }

    def __init__(self) -> None:
        self._core = ov.Core()
        self._core.add_extension(stable_sorting())

    def compile(self, function: LoweredFunction) -> OpenVinoExecutable:
        self.check_output_type(function.target.name)
        entry = entry_function(function.module, function.name)
        _check_types(entry)
        return OpenVinoExecutable(self._core, function, _limits(entry))


def _check_types(function: FuncOp) -> None:
    """Refuses what the plugin computes in other types without saying so."""
    for op in function.walk():
        for value in (*op.results, *op.operands):
            element = _element(value)
            if isinstance(element, Float64Type):
                raise _refused(op, "it computes 64-bit floats in 32 bits")
            if isinstance(element, Float16Type | BFloat16Type):
                raise _refused(op, "it computes half floats in 32 bits and does not round them")
            if _is_odd(element) and op.name.removeprefix("onnx.") not in _HARMLESS:
                raise _refused(op, f"its arithmetic on {element} does not wrap around")
        if op.name == "onnx.TopK":
            if not is_static(op):
                raise _refused(op, "its sorting loses elements where sizes vary")
            if comparisons(op) > MOST_COMPARISONS:
                raise _refused(op, "its stable sorting compares each element with each")
        if op.name == "onnx.Mod" and isinstance(_element(op.results[0]), AnyFloat):
            raise _refused(op, "its remainder of floats is off by as much as the quotient is large")
        if op.name == "onnx.BitCast":
            raise _refused(
                op, "it does not read the bits of a float, which tell a sign, of zeros too"
            )
        if op.name == "onnx.Erf" and not _is_added_to_a_constant(op):
            raise _refused(op, "its erf of numbers next to 0 is 0")


def _element(value: SSAValue) -> Attribute | None:
    return value.type.element_type if isinstance(value.type, TensorType) else None


def _is_added_to_a_constant(op: Operation) -> bool:
    """Whether all that reads a result adds it to a number, as in GELU, so that only its absolute error counts."""
    users = [use.operation for use in op.results[0].uses]
    return all(
        user.name == "onnx.Add"
        and any(
            not _reads_arguments(x.owner, set())
            for x in user.operands
            if isinstance(x.owner, Operation)
        )
        for user in users
    )


def _reads_arguments(op: Operation, seen: set[Operation]) -> bool:
    """Whether an op depends on what is not known when compiling."""
    seen.add(op)
    owners = [operand.owner for operand in op.operands]
    return any(
        isinstance(owner, Block) or (owner not in seen and _reads_arguments(owner, seen))
        for owner in owners
    )


def _is_odd(element: Attribute | None) -> bool:
    """Integers that are no i32, i64 or boolean."""
    if not isinstance(element, IntegerType) or element.width.data == 1:
        return False
    return element.width.data < 32 or element.signedness.data == Signedness.UNSIGNED


def _limits(function: FuncOp) -> Limits:
    if not any(is_integer(v.type) for op in function.walk() for v in (*op.results, *op.operands)):
        return Limits(0, COUNTED)
    found = limits_of(function)
    if not isinstance(found, Limits):
        raise _refused(*found)
    return found


def _refused(op: Operation, reason: str) -> EngineError:
    return EngineError(
        f"OpenVINO is not asked to run this: {reason}",
        op=op.name,
        location=_line_of(op),
        dialect="onnx",
        hint="use engine='onnxruntime'",
    )


def _line_of(op: Operation) -> str | None:
    """The line of the model that an op comes from; of a constant, which has none, that of its first reader."""
    waiting, seen = [op], set[Operation]()
    while waiting:
        each = waiting.pop(0)
        if (line := describe(each.location)) is not None:
            return line
        seen.add(each)
        waiting += [u.operation for r in each.results for u in r.uses if u.operation not in seen]
    return None


class _Model:
    """A compiled model and its idle requests; ``held`` are the arguments that are built in, by position."""

    def __init__(
        self, core: ov.Core, function: LoweredFunction, held: Mapping[int, Prepared]
    ) -> None:
        self.held = held
        proto = model_of(entry_function(function.module, function.name)).proto
        try:
            model = core.read_model(proto.SerializeToString())
            clearing = tell_masked_rows_by_mask(model)
            # what nothing reads is not there
            parameters = {p.output(0).get_any_name(): p for p in model.get_parameters()}
            names = [each.name for each in proto.graph.input]
            for position, weight in held.items():
                if (parameter := parameters.get(names[position])) is not None:
                    constant = ov.op.Constant(weight.handle, shared_memory=True)
                    parameter.output(0).replace(constant.output(0))
                    model.remove_parameter(parameter)
            round_where_results_jump(model)
            options = _OPTIONS | _threads(function)
            if is_fused_wrongly(model, clearing):
                options["SNIPPETS_MODE"] = "DISABLE"
            self.compiled = core.compile_model(model, "CPU", options)
        except RuntimeError as error:
            raise EngineError(
                f"OpenVINO refuses the program: {shortened(str(error))}",
                dialect="onnx",
                hint=ANOTHER,
            ) from error
        for number, spec in enumerate(function.results):
            _check_shape(number, spec, self.compiled.output(number).partial_shape)
        self.inputs = {
            position: name
            for position, name in enumerate(names)
            if position not in held and name in parameters
        }
        """The arguments that are read, by position."""
        self.idle = list[Request]()


def _check_shape(number: int, spec: TensorSpec, found: ov.PartialShape) -> None:
    """Refuses a program whose results would have other shapes: an optimization is wrong."""
    if found.rank.is_dynamic:
        return
    sizes = [size.get_length() if size.is_static else None for size in found]
    if len(sizes) != len(spec.shape) or any(
        None not in (size, known) and size != known
        for size, known in zip(sizes, spec.shape, strict=True)
    ):
        raise EngineError(
            f"OpenVINO makes a result of the shape {sizes} of result {number}, which is {spec}",
            dialect="onnx",
            hint=ANOTHER,
        )


_OPTIONS = {
    "PERFORMANCE_HINT": "LATENCY",
    "EXECUTION_MODE_HINT": "ACCURACY",
    "INFERENCE_PRECISION_HINT": "f32",
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
}


def _threads(function: LoweredFunction) -> dict[str, Any]:
    return {"INFERENCE_NUM_THREADS": 1 if is_small(function) else torch.get_num_threads()}


class OpenVinoExecutable(Executable):
    """A function OpenVINO runs. Safe to call from several threads at once: each gets a request of its own.

    Weights are part of a model, which packs them: one that has changed makes a new model.
    """

    def __init__(self, core: ov.Core, function: LoweredFunction, limits: Limits) -> None:
        super().__init__(function)
        self._core = core
        self._bound, self._longest = limits
        self._lock = threading.Lock()
        self._model: _Model | None = None

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        dense = host_tensor(tensor)
        self._check(dense.numpy(), "a weight")
        pointer = dense.data_ptr()
        return Prepared(
            lent(dense), tensor.dtype, tuple(tensor.shape), pointer, pointer == tensor.data_ptr()
        )

    def holding(self, held: Mapping[int, Prepared]) -> Run:
        if not self.function.results:
            return lambda arguments: []
        model = self._model_for(held)
        others = [place for place in range(len(self.function.arguments)) if place not in held]
        read = [(others.index(place), name) for place, name in model.inputs.items()]
        return lambda arguments: self._infer(model, read, arguments)

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        if not self.function.results:  # a program whose results were all known when it was compiled
            return []
        model = self._model
        if model is None or any(args[position] is not h for position, h in model.held.items()):
            model = self._model_for({i: a for i, a in enumerate(args) if type(a) is Prepared})
        return self._infer(model, list(model.inputs.items()), args)

    def _infer(
        self, model: _Model, read: Sequence[tuple[int, str]], arguments: Sequence[Any]
    ) -> list[torch.Tensor]:
        """Runs a model on those of the arguments that it reads, by their places among them and their names."""
        request = self._request(model)
        try:
            # a request keeps no memory: copies of what does not lie densely have to live until it has run
            living = [self._give(request, name, arguments[place]) for place, name in read]
            results = request.run()
            del living
            return results
        except RuntimeError as error:
            raise run_error("OpenVINO", self.function, error) from error
        finally:
            with self._lock:
                model.idle.append(request)

    def _request(self, model: _Model) -> Request:
        with self._lock:
            if model.idle:
                return model.idle.pop()
            return Request(model.compiled, model.inputs.values(), self.function.results)

    def _model_for(self, held: Mapping[int, Prepared]) -> _Model:
        with self._lock:
            self._model = _Model(self._core, self.function, held)
            return self._model

    def _give(self, request: Request, name: str, arg: Any) -> Any:
        if type(arg) is Prepared:
            return request.give_lent(name, arg.handle)
        dense = host_tensor(arg)
        if max(dense.shape, default=0) > self._longest:
            raise InputError(
                f"an argument has the sizes {list(dense.shape)}; OpenVINO holds 64-bit integers in 32 bits, which is "
                f"right in this program for dimensions up to {self._longest}",
                hint=ANOTHER,
            )
        own = request.copied(name, dense)
        self._check(dense.numpy() if own is None else own, "an argument")
        return request.give_lent(name, lent(dense)) if own is None else None

    def _check(self, values: Any, what: str) -> None:
        """Refuses elements that OpenVINO would take for others."""
        if not values.size:
            return
        if values.dtype.kind == "f":
            if has_nan(values):
                raise InputError(
                    f"{what} has a NaN, which OpenVINO may lose", hint="use engine='onnxruntime'"
                )
        elif values.dtype == "int64" or (values.dtype == "int32" and self._bound < MOST):
            low, high = int(values.min()), int(values.max())
            if low < -self._bound or high > self._bound:
                raise InputError(
                    f"{what} has the integer {low if low < -self._bound else high}; OpenVINO holds 64-bit integers in "
                    f"32 bits and compares and divides those as floats, which is right in this program for integers "
                    f"up to {self._bound}",
                    hint="use engine='onnxruntime'",
                )
