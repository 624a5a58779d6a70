"""What PyTorch's ``lazy`` device has recorded and nobody has computed yet.

The device records functional calls (PyTorch's functionalization stands above it) as a graph behind each tensor. A
dispatch mode below functionalization sees every such call: it keeps weak references to the tensors that calls
give, and asks for their values before PyTorch itself would compute them.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, partial
from typing import Any, cast

import torch
import torch._lazy
import torch._lazy.computation
import torch._lazy.metrics
import torch._lazy.ts_backend
from torch._C import DispatchKey
from torch._ops import HigherOrderOperator, OpOverload
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.drawing_ops import draws
from torch2mlir.frontends.dtypes import tensor_of
from torch2mlir.frontends.fx.refused_writes import write_to_windows
from torch2mlir.frontends.lazy.carried import CALLS, Call, TensorType, carry
from torch2mlir.frontends.lazy.draws import Draws

aten = torch.ops.aten

LAZY = "lazy"


@dataclass(frozen=True)
class Recorded:
    """A graph the device has recorded, and the tensors it stands behind.

    Attributes:
        tensors: whose values the graph's results are, in order.
        hash: equal for equal graphs on parameters of equal types; values of Python numbers take no part.
        parameters: the tensors behind the graph's parameters, on the CPU and not copied.
    """

    tensors: list[torch.Tensor]
    hash: str
    parameters: list[torch.Tensor]

    def text(self) -> str:
        """The graph as PyTorch prints it, in TorchScript."""
        text: str = torch._C._lazy._get_tensors_backend(self.tensors)
        return text


def recorded(tensors: Sequence[torch.Tensor]) -> Recorded:
    """The graph behind tensors of the device."""
    with _disable_current_modes():
        unwrapped = [_unwrapped(tensor) for tensor in tensors]
        _, parameters = torch._lazy.computation.get_tensors_ts_device_data_node(unwrapped)
        graph_hash = torch._lazy.computation.get_graph_hash(unwrapped).hex()
        return Recorded(unwrapped, graph_hash, parameters)


def write_back(tensors: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Makes computed values those of lazy tensors, in place of the graphs behind them."""
    with _disable_current_modes(), torch.no_grad():
        for tensor, value in zip(tensors, values, strict=True):
            with torch.inference_mode(tensor.is_inference()):  # that of its own, not of this moment
                tensor.data = _unwrapped(value.to(LAZY))


_WITHOUT_DERIVATIVE = (aten.logdet.default, aten.std.default, aten.std.dim, aten.svd.default)
"""Calls that PyTorch differentiates through the calls it writes them in, which the device's nodes for them hide."""

_OWN_KERNELS = list[torch.library.Library]()


def initialize() -> None:
    """Makes the ``lazy`` device known to PyTorch, which refuses to be told twice."""
    if not torch._C._dispatch_has_kernel_for_dispatch_key("aten::addmm", "Lazy"):
        torch._lazy.ts_backend.init()
    if not _OWN_KERNELS:
        library = torch.library.Library("aten", "IMPL")
        for call in _WITHOUT_DERIVATIVE:
            library.impl(call, partial(_in_differentiable_calls, call), "AutogradLazy")
        library.impl(aten.stft.center, _stft, "AutogradLazy")
        _OWN_KERNELS.append(library)


def _in_differentiable_calls(call: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """A call as PyTorch writes it in others."""
    return call._op_dk(DispatchKey.CompositeImplicitAutograd, *args, **kwargs)


_reads_reported_strides: ContextVar[bool] = ContextVar("_reads_reported_strides", default=False)


def _stft(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """PyTorch's code takes overlapping frames by strides: of a copy without gaps they are what the device reports."""
    dense = x.clone(memory_format=torch.contiguous_format)
    token = _reads_reported_strides.set(True)
    try:
        return _in_differentiable_calls(aten.stft.center, dense, *args, **kwargs)
    finally:
        _reads_reported_strides.reset(token)


def is_lazy(value: Any) -> bool:
    """Whether a value is a tensor of the device."""
    return isinstance(value, torch.Tensor) and value.device.type == LAZY


def _unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The device's own tensor in the one that functionalization has given the user."""
    return torch._from_functional_tensor(tensor) if torch._is_functional_tensor(tensor) else tensor


def _watched(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor of the device as functionalization watches it."""
    if not is_lazy(tensor) or torch._is_functional_tensor(tensor):
        return tensor
    return torch._to_functional_tensor(tensor)


def _settled(tensor: torch.Tensor) -> torch.Tensor:
    """The device's own tensor, after what has been written through views."""
    if torch._is_functional_tensor(tensor):
        torch._sync(tensor)  # type: ignore[attr-defined]
    return _unwrapped(tensor)


_RESOLVING = (DispatchKey.Conjugate, DispatchKey.Negative)
"""What turns views that are conjugate, or negative, into the elements of them before a call reads these."""


@contextmanager
def _as_outside(*keys: DispatchKey) -> Iterator[None]:
    """While it lasts, calls pass these keys of the dispatcher, which a dispatch mode is called without."""
    excluded = {key: torch._C._dispatch_tls_is_dispatch_key_excluded(key) for key in keys}
    for key in keys:
        torch._C._dispatch_tls_set_dispatch_key_excluded(key, False)
    try:
        yield
    finally:
        for key, was in excluded.items():
            torch._C._dispatch_tls_set_dispatch_key_excluded(key, was)


_functionalization = partial(_as_outside, DispatchKey.Functionalize, *_RESOLVING)
"""While it lasts, calls are made functional, and conjugate views resolved, as outside of a dispatch mode."""


class _Road(Enum):
    """What happens to a call on the device."""

    RECORDED = auto()
    COMPOSITE = auto()  # PyTorch writes it in other calls
    CARRIED = auto()  # the device has no node for it: one that carries it, if we can compile it
    PYTORCH = auto()  # PyTorch runs it on the CPU at once


_COMPOSITE_KEYS = (DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeImplicitAutograd)

_CARRIED_FIRST = {
    aten.pixel_shuffle.default,  # the device's node gives memory nobody has written
    aten.masked_fill.Scalar,  # the device promises the tensor's sizes where the mask has more
    aten.masked_fill.Tensor,
    aten.arange.default,  # the device's node asks a kernel without float16 for the size
    aten.arange.start,
    aten.arange.start_step,
    aten.kaiser_window.beta,  # PyTorch's code of it asks for a kernel of the device
    aten.bartlett_window.default,  # PyTorch writes to a view of what it has made
    aten.bartlett_window.periodic,
    aten.eye.default,  # PyTorch writes these with a write to memory, which the device has no node for
    aten.eye.m,
    aten.linspace.default,
    aten.logspace.default,
    aten.mvlgamma.default,
    aten.fft_fftfreq.default,
    aten.ldexp.Tensor,  # PyTorch's code of it goes beyond what a float holds on the way
    aten.diag_embed.default,  # the device's code of it has where run by PyTorch, on values nobody has computed
}
"""Calls that are carried although they could be recorded otherwise."""

_READS_MEMORY = {
    aten.as_strided.default,
    aten.as_strided_.default,
    aten.as_strided_copy.default,
    aten.as_strided_scatter.default,
}

_READS = {aten._local_scalar_dense, aten.item, aten.equal}
"""Calls that only ask for values."""


def _has_node(call: OpOverload) -> bool:
    """Whether the device records a call as such."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(call.name(), "Lazy")


@cache
def _road(call: OpOverload) -> _Road:
    if torch.Tag.data_dependent_output in call.tags:
        return _Road.PYTORCH
    if call in _CARRIED_FIRST:
        return _Road.CARRIED
    if _has_node(call):
        return _Road.RECORDED
    if _composite_key(call) is not None:
        return _Road.COMPOSITE
    writes = any(argument.alias_info is not None for argument in call._schema.arguments)
    return _Road.PYTORCH if writes else _Road.CARRIED


@cache
def _composite_key(call: OpOverload) -> DispatchKey | None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return next((key for key in _COMPOSITE_KEYS if has(call.name(), key)), None)


@cache
def _has_in_place(call: OpOverload) -> bool:
    """Whether the device has the variant that writes to its first tensor: ``fill_`` for ``fill``."""
    packet = getattr(aten, f"{call.overloadpacket.__name__}_", None)
    variant = getattr(packet, call._overloadname, None)
    return variant is not None and _has_node(variant)


def _tensors_for_numbers(call: OpOverload, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with tensors for Python numbers where the schema has a tensor: ``remainder(tensor, 3)``.

    The dispatcher makes numbers of them for dispatch modes, and takes the numbers back for the best-known calls only.
    """
    if torch._C._should_allow_numbers_as_tensors(call._schema.name.partition("::")[2]):
        return args
    beside = next((value for value in args if isinstance(value, torch.Tensor)), None)
    return tuple(
        tensor_of(value, beside)
        if isinstance(value, int | float | complex) and str(parameter.type) == "Tensor"
        else value
        for parameter, value in zip(call._schema.arguments, args, strict=False)
    )


class Recorder(TorchDispatchMode):
    """Watches the calls on the device.

    Args:
        compute: called with tensors whose values are about to be asked for.
        promise: the type of what a call gives for operands of these types, or a list of types; none if it cannot be
            compiled.
    """

    supports_higher_order_operators = True

    def __init__(
        self,
        compute: Callable[[Sequence[torch.Tensor]], None],
        promise: Callable[[Call, tuple[TensorType, ...]], Any | None],
    ) -> None:
        super().__init__()
        self._compute = compute
        self._promise = promise
        self._pending: dict[int, weakref.ref[torch.Tensor]] = {}
        self._statistics: list[weakref.ref[torch.Tensor]] = []
        self._updating: list[torch.Tensor] = []
        self._watch = True
        self._writing = set[OpOverload]()
        self._draws = Draws()
        self.fallbacks = Counter[str]()
        """Calls PyTorch has run itself, by name."""

    def pending(self) -> list[torch.Tensor]:
        """Tensors that are alive and not computed, in the order they were recorded in."""
        alive = [ref() for ref in self._pending.values()]
        return [tensor for tensor in alive if tensor is not None]

    def among_pending(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Those of some tensors that are not computed, without repetition."""
        unwrapped = {id(inner): inner for inner in map(_unwrapped, tensors)}
        return [tensor for key, tensor in unwrapped.items() if key in self._pending]

    def computed(self, tensors: Sequence[torch.Tensor]) -> None:
        """Forgets tensors that have their values."""
        for tensor in tensors:
            self._pending.pop(id(tensor), None)
        self._updating = [tensor for tensor in self._updating if id(tensor) in self._pending]

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """While it lasts, PyTorch's generator is as it was when the step drew first."""
        with self._draws.repeated():
            yield

    def statistics(self, parameters: Sequence[torch.Tensor]) -> list[torch.Tensor | None]:
        """The running statistics of batch normalization that parameters of a graph stand for, as far as they live."""
        behind = dict[int, torch.Tensor]()
        for reference in self._statistics:
            tensor = reference()
            if tensor is not None and id(tensor) not in self._pending:
                (data,) = recorded([tensor]).parameters
                behind[data.data_ptr()] = tensor
        self._statistics.clear()
        return [behind.get(parameter.data_ptr()) for parameter in parameters]

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        leaves = pytree.arg_tree_leaves(*args, **kwargs)
        lazy = [leaf for leaf in leaves if is_lazy(leaf)]
        result_is_lazy = torch.device(kwargs.get("device") or "cpu").type == LAZY
        if not lazy and not result_is_lazy:
            if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
                with _as_outside(*_RESOLVING):  # PyTorch's code of the call may conjugate
                    return func(*args, **kwargs)
            return func(*args, **kwargs)
        if isinstance(func, HigherOrderOperator):
            raise CaptureError(
                f"the lazy device cannot record the higher-order operator '{func.name()}'",
                hint="programs on the lazy device run as they are written: use Python's own if and for",
            )
        known = _reads_reported_strides.get()
        if func in _READS_MEMORY and not known and self.among_pending(lazy[:1]):
            raise CaptureError(
                "tensors that are computed on the lazy device have no strides to be read by",
                op=func.name(),
                hint="take the elements by indices, or compile the model: torch.export knows how tensors lie in memory",
            )
        if func is aten.unfold_backward.default and torch._C._current_graph_task_id() == -1:
            # functionalization says so what windows say of their tensor, with zeros where no window is
            raise write_to_windows()
        if func is aten.empty_strided.default:  # tensors of the device have no strides
            func, args = aten.empty.memory_format, args[:1]
        args = _tensors_for_numbers(func, args)
        road = _road(func)
        if road in (_Road.RECORDED, _Road.CARRIED) and draws(func, args, kwargs):
            self._draw()
        if road is _Road.COMPOSITE and func not in self._writing:
            result = self._in_other_calls(func, args, kwargs, watch=bool(lazy))
            return result if lazy else self._created(result)
        if road in (_Road.CARRIED, _Road.COMPOSITE):
            result = self._carried(func, args, kwargs)
            if result is not None:
                self._record(result)
                return result if lazy else self._created(result)
            road = _Road.PYTORCH
        if road is _Road.PYTORCH or _leaves_device(func, args, kwargs):
            with _functionalization():
                self._compute(self.among_pending(lazy))
            if road is _Road.PYTORCH and func.overloadpacket not in _READS:
                self.fallbacks[func._schema.name] += 1
            return func(*args, **kwargs)
        if any(isinstance(leaf, torch.Generator) for leaf in leaves):
            raise CaptureError(
                "the lazy device draws random numbers from PyTorch's default generator only",
                op=func.name(),
                hint="seed it with torch.manual_seed, or draw on the CPU and move the result with .to(device)",
            )
        result = func(*args, **kwargs)
        if func is aten.native_batch_norm.default:
            self._statistics += [weakref.ref(tensor) for tensor in args[3:5] if tensor is not None]
            if args[5] and args[3] is not None:
                # PyTorch's device computes what is alive, and nobody may keep a result
                self._updating.append(_unwrapped(result[1]))
        if lazy:
            self._record(result)
        return result if lazy else self._created(result)

    def _draw(self) -> None:
        """Before a call that draws is recorded: what is drawn after PyTorch's generator was seeded is another step."""
        if self._draws.are_of_another_state():
            with _functionalization():
                self._compute(self.pending())
            self._draws.forget()
        self._draws.begin()

    def _created(self, result: Any) -> Any:
        """What a call without lazy arguments gives: the user gets a tensor that functionalization watches."""
        return pytree.tree_map_only(torch.Tensor, _watched, result) if self._watch else result

    def _in_other_calls(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], watch: bool
    ) -> Any:
        """The result of a call that PyTorch writes in other calls, which come here one by one.

        Where it takes tensors, functionalization watches: PyTorch's code takes views and writes to them. What comes
        back as the same call, because it is written as a copy and the call in place, is carried.
        """
        before = self._watch, self._writing
        self._watch = watch and not _has_in_place(func)
        arguments = taken = (args, kwargs)
        if self._watch:
            self._writing = {*self._writing, func}
            taken = pytree.tree_map_only(torch.Tensor, _watched, arguments)
        try:
            with self, _functionalization() if self._watch else _as_outside(*_RESOLVING):
                key = cast(DispatchKey, _composite_key(func))
                result = func._op_dk(key, *taken[0], **taken[1])
        finally:
            self._watch, self._writing = before
        written = dict[int, torch.Tensor]()
        for given, own in zip(
            pytree.tree_leaves(arguments), pytree.tree_leaves(taken), strict=True
        ):
            changed = torch._functionalize_has_data_mutation  # type: ignore[attr-defined]
            if given is not own and changed(own):
                given.copy_(_settled(own))
                written[id(own)] = given
        self._record(list(written.values()))
        return pytree.tree_map_only(
            torch.Tensor,
            lambda tensor: written[id(tensor)] if id(tensor) in written else _settled(tensor),
            result,
        )

    def _carried(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any | None:
        """The result of a call, carried by a node of the graph; none if it cannot be."""
        if any(isinstance(leaf, torch.Generator) for leaf in pytree.tree_leaves((args, kwargs))):
            return None
        call, operands = CALLS.of(func, args, kwargs)
        if not all(is_lazy(tensor) or _may_move(func, tensor) for tensor in operands):
            return None
        with _functionalization():
            promise = self._promise(call, tuple(TensorType.of(tensor) for tensor in operands))
        if promise is None:
            return None
        operands = [_unwrapped(tensor.to(LAZY)) for tensor in operands]
        if isinstance(promise, TensorType):
            return carry(call, operands, [promise])[0]
        return carry(call, operands, promise)

    def _record(self, result: Any) -> None:
        for leaf in pytree.tree_leaves(result):
            if is_lazy(leaf):
                tensor = _unwrapped(leaf)
                key = id(tensor)
                self._pending[key] = weakref.ref(tensor, partial(self._forget, key))

    def _forget(self, key: int, _: weakref.ref[torch.Tensor]) -> None:
        self._pending.pop(key, None)


def _may_move(func: OpOverload, tensor: torch.Tensor) -> bool:
    """Whether a call takes this tensor of the CPU beside those of the device."""
    indices = func.overloadpacket in (aten.index, aten.index_put)
    return tensor.device.type == "cpu" and (tensor.dim() == 0 or indices)


def _leaves_device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call copies a lazy tensor to another device."""
    if func.overloadpacket is aten._to_copy:
        device = kwargs.get("device")
        return device is not None and torch.device(device).type != LAZY
    if func.overloadpacket in (aten.copy_, aten._copy_from):
        target = args[0] if func.overloadpacket is aten.copy_ else args[1]
        return not is_lazy(target)
    return False
