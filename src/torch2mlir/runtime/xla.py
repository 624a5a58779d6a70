"""XLA on the CPU, through JAX.

What is public of what is used: ``jax.extend.backend`` (the client, compile options), ``jax.dlpack``,
``jax.enable_x64`` and ``jax.errors``. The client compiles StableHLO text and its executable takes and
returns ``jax.Array``; their methods are reached through public objects, but JAX gives no promise
of stability for them: all such calls are in ``XlaEngine.compile`` and ``XlaExecutable.__call__``.

Facts about XLA's reader of StableHLO (jaxlib 0.10.2):

- dialects it knows: stablehlo, chlo (lowered by XLA itself), func, arith constants, shape, tensor,
  mhlo, sdy, quant, ml_program; not math, scf, linalg. Unregistered ops are refused;
- custom and generic syntax, locations of every kind and unknown discardable attributes are fine;
- ``dense<"0x...">`` constants are fine, ``dense_resource`` is refused;
- the entry must be a public function called ``main``;
- dynamic dimensions are refused, and bounded ones need a TPU;
- a convolution with the channels first is rearranged around every call of its kernel, one of groups is 20 to 80 times
  slower than the products it stands for: ``stablehlo-channels-last`` says both otherwise;
- a sort of several operands calls a function for each comparison, 6 times slower than sorting integers
  (``stablehlo-pack-sorts``); arc tangents, sines and cosines call the C library for each element, 8 to 14 times slower
  than eager mode (``stablehlo-angles-by-formulas``), and so do remainders of floats, 10 to 25 times slower
  (``stablehlo-remainders-by-quotients``);
- its library's minima and maxima leave out NaN, which is put back (``stablehlo-extrema-of-nan``); programs with windows
  of them do without its reductions;
- its exponential of f32 loses NaNs that are constants (``stablehlo-exponentials-of-nan``).

Facts about memory: a tensor whose address is a multiple of 64 is read in place, any other is copied
on the way in. PyTorch's allocator aligns to 64, so a copy means a view into a larger tensor or a
memory-mapped file. Results are never aliases of arguments, except of those that the program updates
(``tf.aliasing_output``; ``adopted_memory`` says how they come to lie in XLA's memory), and reach PyTorch without a
copy. Client calls carry 64-bit dtypes whatever ``jax_enable_x64`` says; only the import through ``jax.dlpack``
needs the (thread-local) switch.

A call waits for its results, so a program runs in the thread that calls it (``jax_cpu_enable_async_dispatch`` is turned
off): handed to another one, as JAX does otherwise, eight layers of 64 took 27 us where that thread was still awake and
up to 120 where it was not; now 30. The setting is the process's: computations of a user's own with JAX run so, too,
unless JAX has made its client before.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import jax
import jax.extend.backend
import jaxlib.version
import torch
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from torch2mlir.dialects.locations import describe
from torch2mlir.engine_passes.stablehlo_extrema_of_nan import reads_extrema_of_nan
from torch2mlir.engine_passes.stablehlo_hold_differences import computes_once
from torch2mlir.engine_passes.stablehlo_updates_in_place import DISABLED_PASS, update_in_place
from torch2mlir.errors import EngineError
from torch2mlir.runtime.adopted_memory import AdoptedMemory, is_alone
from torch2mlir.runtime.diagnostics import compile_error, run_error, shortened
from torch2mlir.runtime.engine import Engine, Executable, Prepared, Run, host_tensor
from torch2mlir.runtime.forks import ThreadsOf
from torch2mlir.runtime.lent_memory import ALIGNMENT, LentMemory, owning_array
from torch2mlir.runtime.lowered import LoweredFunction

# What of XLA's library of kernels is used where its reductions would leave out NaN; by default these as well.
_BARRIER = "opt-barrier"
"""What XLA calls a barrier that is in a loop over elements, for which it has no code."""
_LIBRARY_OPTION = "xla_cpu_experimental_ynn_fusion_type"
_WITHOUT_REDUCTIONS = (
    "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
)
# What XLA calls the text in error positions.
_TEXT_NAME = "-"
_PLAIN = (torch.Tensor, torch.nn.Parameter)


class XlaEngine(Engine):
    """Compiles static-shape StableHLO with XLA:CPU."""

    name = "xla"
    output_types = frozenset({"stablehlo"})
    needs_static_shapes = True
    has_portable_code = True
    passes: ClassVar[Mapping[str, Sequence[str]]] = {
        "stablehlo": (
            "stablehlo-wide-depthwise",
            "stablehlo-channels-last",
            "stablehlo-products-of-one-row",
            "stablehlo-pack-sorts",
            "stablehlo-angles-by-formulas",
            "stablehlo-remainders-by-quotients",
            "stablehlo-roots-by-quotients",
            "stablehlo-hold-identities",
            "stablehlo-hold-products",
            "stablehlo-hold-divisors",
            "stablehlo-hold-differences",
            "stablehlo-extrema-of-nan",
            "stablehlo-exponentials-of-nan",
        )
    }

    def __init__(self) -> None:
        self._client = _client()
        self._devices = self._client.devices()[:1]
        self._memory = LentMemory()
        self._adopted = AdoptedMemory()

    def compile(self, function: LoweredFunction) -> XlaExecutable:
        output_type, func_name = function.target.name, function.name
        self.check_output_type(output_type)
        for index, spec in enumerate(function.arguments):
            if not spec.is_static:
                raise EngineError(
                    f"XLA compiles static shapes only; argument {index} of @{func_name} is {spec}",
                    dialect=output_type,
                    hint="specialise the program to concrete shapes, or use the iree engine",
                )
        for index, spec in enumerate(function.results):
            if not spec.is_static:
                raise EngineError(
                    f"XLA compiles static shapes only; the size of result {index} of @{func_name}, {spec}, depends on "
                    "the elements of a tensor",
                    dialect=output_type,
                    hint="use the iree engine or output_type='linalg-on-tensors'",
                )
        text = function.renamed("main").text()
        _threads().check("cannot compile")
        try:
            loaded = self._loaded(text, function)
        except jax.errors.JaxRuntimeError as error:
            if (op := _first_of_unknown_size(function.module)) is not None:
                raise EngineError(
                    "XLA compiles static shapes only; a size here depends on the elements of a tensor",
                    op=op.name,
                    location=describe(op.location),
                    dialect=output_type,
                    hint="use the iree engine with output_type='linalg-on-tensors', say it with torch.where over "
                    "all elements, or leave it to PyTorch with torch2mlir.optimize(model, ...)",
                ) from error
            raise compile_error("XLA", output_type, str(error), text, _TEXT_NAME) from error
        return XlaExecutable(loaded, function, self._memory, self._adopted)

    def _loaded(self, text: str, function: LoweredFunction) -> Any:
        """Compiled code; where barriers stand in XLA's way and only save copies of updated arguments, without them."""
        try:
            return self._client.compile_and_load(text, self._devices, _options(function))
        except jax.errors.JaxRuntimeError as error:
            if _BARRIER not in str(error) or computes_once(function.module):
                raise
            options = _options(function, saves_copies=False)
            return self._client.compile_and_load(text, self._devices, options)

    def updating(self, function: LoweredFunction, pairs: Mapping[int, int]) -> LoweredFunction:
        alike = {a: r for a, r in pairs.items() if function.arguments[a] == function.results[r]}
        if not alike:
            return function
        update_in_place(function.entry, alike)
        return replace(function, updated=alike)

    def version(self) -> str:
        flags = f"{os.environ.get('XLA_FLAGS', '')} {_WITHOUT_REDUCTIONS}"
        return f"jaxlib {jaxlib.version.__version__} {flags}"

    def code(self, executable: Executable) -> bytes:
        assert isinstance(executable, XlaExecutable)
        return executable.read_from or bytes(executable.loaded.serialize())

    def load(self, code: bytes, function: LoweredFunction) -> XlaExecutable:
        _threads().check("cannot load a program")
        try:
            loaded = self._client.deserialize_executable(code, self._devices, _options(function))
        except jax.errors.JaxRuntimeError as error:
            raise EngineError(f"XLA cannot load compiled code: {shortened(str(error))}") from error
        return XlaExecutable(loaded, function, self._memory, self._adopted, read_from=code)


@cache
def _threads() -> ThreadsOf:
    """Those that JAX's client has, of which a process has one: a forked one that of its parent."""
    return ThreadsOf("XLA")


def _client() -> Any:
    """JAX's client for the CPU, one that runs programs in the calling thread if JAX has none yet."""
    _threads()
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    return jax.extend.backend.get_backend("cpu")


def _options(function: LoweredFunction, saves_copies: bool = True) -> Any:
    keeps_barriers = (function.updated and saves_copies) or computes_once(function.module)
    overrides = {"xla_disable_hlo_passes": DISABLED_PASS} if keeps_barriers else {}
    if reads_extrema_of_nan(function.module):
        overrides[_LIBRARY_OPTION] = _WITHOUT_REDUCTIONS
    return jax.extend.backend.get_compile_options(
        num_replicas=1, num_partitions=1, env_options_overrides=overrides
    )


class XlaExecutable(Executable):
    """A function XLA has compiled. Safe to call from several threads at once.

    Args:
        loaded: XLA's own.
        function: what was compiled.
        memory: of arguments.
        adopted: memory of results.
        read_from: the code that it was read from: XLA writes what it has read without its kernels.
    """

    def __init__(
        self,
        loaded: Any,
        function: LoweredFunction,
        memory: LentMemory,
        adopted: AdoptedMemory,
        read_from: bytes = b"",
    ) -> None:
        super().__init__(function)
        self.loaded = loaded
        self.read_from = read_from
        self._memory = memory
        self._adopted = adopted
        self._exporters = list(map(adopted.exporter, function.results))
        # by position, the address an argument had last and the view of it
        self._last: list[tuple[int, Any]] = [(0, None)] * len(function.arguments)

    def prepare(self, tensor: torch.Tensor) -> Prepared:
        array = owning_array(host_tensor(tensor)).block_until_ready()
        pointer = array.unsafe_buffer_pointer() if array.size else 0
        shared = pointer == tensor.data_ptr() or not array.size
        return Prepared(array, tensor.dtype, tuple(tensor.shape), pointer, shared)

    def run(self, args: Sequence[Any]) -> list[torch.Tensor]:
        if self.function.updated:
            with self._adopted.lock:
                return self._run_in_place(args)
        # arguments and copies of them live until the results are there, which the export below waits for
        copies = list[torch.Tensor]()
        arrays = [
            arg.handle if type(arg) is Prepared else self._lent(position, arg, copies)
            for position, arg in enumerate(args)
        ]
        return self._results(arrays)

    def holding(self, held: Mapping[int, Prepared]) -> Run:
        if self.function.updated:
            return super().holding(held)
        count = len(self.function.arguments)
        others = [place for place in range(count) if place not in held]
        known = [held[place].handle if place in held else None for place in range(count)]

        def run(arguments: Sequence[Any]) -> list[torch.Tensor]:
            copies, arrays = list[torch.Tensor](), known.copy()
            for place, argument in zip(others, arguments, strict=True):
                arrays[place] = self._lent(place, argument, copies)
            return self._results(arrays)

        return run

    def _results(self, arrays: Sequence[Any]) -> list[torch.Tensor]:
        """What a call returns, which waits until it is computed."""
        results = self._executed(arrays)
        try:
            return [export(array) for export, array in zip(self._exporters, results, strict=True)]
        except jax.errors.JaxRuntimeError as error:
            raise run_error("XLA", self.function, error) from error

    def _lent(self, position: int, tensor: torch.Tensor, copies: list[torch.Tensor]) -> Any:
        """The view of an argument: that of the last call if it lies at the same place, as weights do.

        Args:
            position: of the argument.
            tensor: checked against its type.
            copies: gets what has been made for the call and is lent instead.
        """
        address, view = self._last[position]
        if address and _lies_at(tensor, address):
            return view
        given = _aligned(tensor)
        view = self._memory.view(given)
        if given.data_ptr() != tensor.data_ptr():
            copies.append(given)
        elif view is self._memory.view(given):  # one that owns nothing and is no copy
            self._last[position] = given.data_ptr(), view
        return view

    def _run_in_place(self, args: Sequence[Any]) -> list[torch.Tensor]:
        """With arguments that the program updates: a result that has become an argument's elements is that argument."""
        arrays, donated, copies = list[Any](), dict[int, torch.Tensor](), list[torch.Tensor]()
        updated, times = self.function.updated, Counter(map(id, args))
        for position, arg in enumerate(args):
            result = updated.get(position)
            if type(arg) is Prepared:
                arrays.append(arg.handle)
            elif result is None:
                arrays.append(self._lent(position, arg, copies))
            elif times[id(arg)] == 1 and (array := self._own_array(args, position)) is not None:
                arrays.append(array)
                donated[result] = arg
            else:  # XLA updates a copy; the view itself is gone after the call
                copies.append(_aligned(arg))
                arrays.append(self._memory.view(copies[-1], is_kept=False))
        targets = {result: args[position] for position, result in updated.items()}
        try:
            results = self._executed(arrays)
            for index, tensor in donated.items():
                self._adopted.donated(tensor, results[index])
            return [
                self._taken(index, array, targets.get(index)) for index, array in enumerate(results)
            ]
        except EngineError:
            for tensor in donated.values():
                self._adopted.given_back(tensor)
            raise

    def _own_array(self, args: Sequence[Any], position: int) -> Any | None:
        """The array behind an argument that may be updated in it; None if there is none, or others read it."""
        tensor = args[position]
        alone = _is_dense(tensor) and _is_read_once(args, position)
        return self._adopted.array(tensor) if alone else None

    def _taken(self, index: int, array: Any, target: torch.Tensor | None) -> torch.Tensor:
        """A result: the tensor it updates if that has its memory now, else one of its own."""
        try:
            array.block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            raise run_error("XLA", self.function, error) from error
        if target is not None and _is_dense(target) and self._adopted.replace(target, array):
            return target
        return self._exporters[index](array)

    def _executed(self, arrays: Sequence[Any]) -> list[Any]:
        try:
            results = self.loaded.execute_sharded(arrays).disassemble_into_single_device_arrays()
        except jax.errors.JaxRuntimeError as error:
            raise run_error("XLA", self.function, error) from error
        return [shards[0] for shards in results]


def _lies_at(tensor: torch.Tensor, address: int) -> bool:
    """Whether a tensor's elements are the bytes from an address on."""
    if type(tensor) not in _PLAIN:
        return False
    try:
        return tensor.data_ptr() == address and _is_dense(tensor)
    except RuntimeError:  # of a trace, or sparse
        return False


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether a tensor's elements are the bytes of its memory."""
    return tensor.is_contiguous() and not tensor.is_conj() and not tensor.is_neg()


def _is_read_once(args: Sequence[Any], position: int) -> bool:
    """Whether no other argument shares the memory of one that is updated, which is not given twice."""
    tensor = args[position]
    if is_alone(tensor):
        return True
    begin, end = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
    for index, other in enumerate(args):
        pointer = other.pointer if isinstance(other, Prepared) else other.data_ptr()
        if index != position and begin <= pointer < end:
            return False
    return True


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor dense and at an address XLA reads in place; a copy where it is not."""
    dense = host_tensor(tensor)
    return dense.clone() if dense.data_ptr() % ALIGNMENT else dense


def _first_of_unknown_size(module: ModuleOp) -> Operation | None:
    """The first op whose result has a size that only data decides; one with a line of the model if there is."""
    found = [
        op
        for op in module.walk()
        for result in op.results
        if isinstance(result.type, TensorType) and not result.type.has_static_shape()
    ]
    located = (op for op in found if describe(op.location) is not None)
    return next(located, found[0] if found else None)
