"""``torch2mlir.optimize``: a model whose supported regions run compiled, and the rest in PyTorch."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch.compiler import is_dynamo_compiling
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.frontends.module_state import GRAD_MODE
from torch2mlir.frontends.python_state import PythonState
from torch2mlir.frontends.reached_objects import AroundModel, Reached
from torch2mlir.frontends.trials import cloned, undone
from torch2mlir.frontends.updated_caches import share_parts
from torch2mlir.hybrid.capture import ExportedProgram
from torch2mlir.hybrid.captures import Captures
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.partition import Partition
from torch2mlir.hybrid.programs import GUARD, module_of
from torch2mlir.hybrid.report import Report
from torch2mlir.hybrid.support import shortened
from torch2mlir.hybrid.ways import check_any_installed
from torch2mlir.runtime.engine import is_traced
from torch2mlir.runtime.out_of_sight import out_of_sight
from torch2mlir.shared_generators import generators_kept

_CHECKS_RAISE = (InputError, RuntimeError)
"""What is raised where an assertion of a program does not hold: by ours and by PyTorch's."""
_NO_GRAPH = "no graph of it is compiled"
_ASSERTION = "Runtime assertion failed"

WANTS_GRADIENT = "gradients are wanted: optimize is for inference"


def optimize(
    model: torch.nn.Module | ExportedProgram | Callable[..., Any],
    allow_tracing: bool = True,
    model_inputs: Any = None,
    *,
    config: Config | None = None,
    dynamic_shapes: Any = "auto",
    **options: Any,
) -> OptimizedModule:
    """A model for inference that runs compiled where it can be compiled, and in PyTorch where not.

    It gives the results of the model: random numbers, writes to inputs and buffers, and results that share memory are
    PyTorch's. It does not fail because of an op. Calls that want gradients run in PyTorch as a whole.

    Args:
        model: a module, a scripted or traced module, an exported program or a function of tensors.
        allow_tracing: whether the model may be run once more on its inputs to capture it whole; if not, PyTorch's
            bytecode analysis captures it region by region at its calls (``torch.compile``).
        model_inputs: example arguments, a tensor, a tuple, or a mapping of keyword arguments; the model is optimized
            for calls like this at once. Without them this happens at the first call.
        config: what may be compiled, and by whom.
        dynamic_shapes: "auto" lets every size vary that PyTorch lets vary; else as ``torch.export.export`` takes it.
        options: fields of :class:`Config`: ``engine="iree"``, ``tune=True``, ...

    Raises:
        InputError: the model is none, or an option is not one.
    """
    if not isinstance(allow_tracing, bool):
        raise InputError(
            f"allow_tracing of optimize is True or False, not {type(allow_tracing).__name__}",
            hint="example arguments are model_inputs: optimize(model, model_inputs=(x,))",
        )
    known = {field.name for field in dataclasses.fields(Config)}
    if unknown := sorted(set(options) - known):
        raise InputError(
            f"optimize has no option '{unknown[0]}'", hint=f"options: {', '.join(sorted(known))}"
        )
    config = dataclasses.replace(config or Config(), **options)
    optimized = OptimizedModule(model, config, allow_tracing, dynamic_shapes)
    if model_inputs is not None:
        optimized.prepare(*_arguments(model_inputs))
    elif isinstance(model, ExportedProgram) and model.example_inputs is not None:
        optimized.prepare(*model.example_inputs)
    return optimized


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)), {}


class OptimizedModule(AroundModel):
    """A model of ``optimize``; call it as the model.

    Safe to call from several threads if the model is. ``report`` tells what runs where. ``copy.deepcopy`` and
    ``torch.save`` take the model in it along, which is then captured again; ``save`` keeps the captured program.
    """

    def __init__(
        self, model: Any, config: Config, allow_tracing: bool = True, dynamic_shapes: Any = "auto"
    ) -> None:
        super().__init__()
        given = model if isinstance(model, list) else [model]
        are_programs = all(isinstance(each, ExportedProgram) for each in given)
        self.exported: list[ExportedProgram] = given if are_programs else []
        if self.exported:
            model = module_of(self.exported)
        elif not isinstance(model, torch.nn.Module):
            if not callable(model):
                raise InputError(f"a {type(model).__name__} is no model")
            model = _Function(model)
        if config.way is None:
            check_any_installed()
        self.model = model
        self._asks_for_grad_mode = GRAD_MODE in Reached(model).names
        named = None if self.exported else _named(model)
        self._captures = Captures(model, self.exported, config, named, dynamic_shapes)
        self._is_lazy = any(map(is_lazy, self._captures.own_tensors()))
        called = model.function if isinstance(model, _Function) else model
        self._is_script = isinstance(called, torch.jit.ScriptModule | torch.jit.ScriptFunction)
        self.training = _is_training(model)
        self.config = config
        self._settings = (allow_tracing, dynamic_shapes)
        self._calls = 0
        self._in_pytorch = Counter[str]()
        self._warned = False
        self._out_of_sight = out_of_sight(self._called)
        if not allow_tracing and not self.exported:
            self._captures.by_regions("allow_tracing is off")

    @staticmethod
    def of_programs(programs: Sequence[ExportedProgram], config: Config) -> OptimizedModule:
        """A module of programs that were captured from one model, each for its kind of calls."""
        return OptimizedModule(list(programs), config)

    # calls

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if is_dynamo_compiling():  # it would go on in here
            return self._out_of_sight(*args, **kwargs)
        if is_traced():
            return self.model(*args, **kwargs)
        if self._is_script:  # which has lists and dictionaries of its own
            args, kwargs = pytree.tree_map(lambda leaf: leaf, (args, kwargs))
        return self._called(args, kwargs)

    def _called(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.__dict__["_calls"] += 1  # a module's own way to set an attribute is slow
        takes_grad = _is_training(self.model) or self._asks_for_grad_mode
        if not (takes_grad and torch.is_grad_enabled()) and (
            known := self._captures.known(args, kwargs)
        ):
            variant, given = known
            try:
                return variant(given)
            except _CHECKS_RAISE as error:
                return self._as_in_pytorch(error, args, kwargs)
        reason = self._reason_for_pytorch(args, kwargs)
        if reason is None:
            with torch.no_grad():
                found, leaves = self._captures.variant(args, kwargs)
                shares = found is not None and found.captured.caches and share_parts(args, kwargs)
                if found is not None and leaves is not None and not shares:
                    found.remember(args, kwargs)
                    try:
                        return found.called(leaves, args, kwargs)
                    except _CHECKS_RAISE as error:
                        return self._as_in_pytorch(error, args, kwargs)
                if (regions := self._captures.regions) is not None:
                    runs = regions.runs
                    results = regions(*args, **kwargs)
                    if regions.runs == runs:
                        self._in_pytorch[_NO_GRAPH] += 1
                    return results
                reason = self._captures.refused or "another kind of call than any captured one"
        self._in_pytorch[reason] += 1
        return self._by_pytorch(args, kwargs)

    def _by_pytorch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        try:
            return self.model(*args, **kwargs)
        except AssertionError as error:
            if not self.exported or GUARD not in str(error):
                raise
            raise InputError(
                f"the program was captured for other calls than this one: {shortened(str(error))}",
                hint="optimize the model itself for such calls too, or capture it with these sizes as dynamic ones",
            ) from error

    def _as_in_pytorch(
        self, error: Exception, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """A call with elements that the captured program is not for: PyTorch takes it, or raises its own error.

        Raises:
            Exception: the one given, if it is about something else.
        """
        if not isinstance(error, InputError) and _ASSERTION not in str(error):
            raise error
        self._in_pytorch["elements for which the captured program does not hold"] += 1
        return self._by_pytorch(args, kwargs)

    def _reason_for_pytorch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        leaves = pytree.tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if any(type(t) not in (torch.Tensor, torch.nn.Parameter) for t in tensors):
            return "tensors of another class than torch.Tensor"
        if any(t.is_meta for t in tensors):
            return "tensors without elements"
        if any(t.layout is not torch.strided or t.is_nested for t in tensors):
            return "tensors that are not dense"
        if self._is_lazy:
            self._is_lazy = any(map(is_lazy, self._captures.own_tensors()))
            if self._is_lazy:
                return "a first call decides the sizes of parameters"
        if not torch.is_grad_enabled():
            return None
        if self._asks_for_grad_mode:  # captures are made without
            return "the model asks whether grad mode is on"
        wanted = any(t.requires_grad for t in tensors)
        if not wanted and _is_training(self.model):
            wanted = any(p.requires_grad for p in self.model.parameters())
        if wanted and not self._warned:
            self._warned = True
            warnings.warn(
                f"{WANTS_GRADIENT}, so this call runs in PyTorch. Use model.eval() or torch.no_grad(), or "
                'torch.compile(model, backend="torch2mlir") to train',
                stacklevel=4,
            )
        return WANTS_GRADIENT if wanted else None

    @generators_kept()
    def prepare(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Captures, compiles and examines ahead of the first call with arguments like these."""
        own_mode = torch.is_grad_enabled()
        with torch.no_grad():
            if self._reason_for_pytorch(args, kwargs) is not None and not self.exported:
                return
            found, _ = self._captures.variant(args, kwargs)
            if found is None and not (self.exported or self._captures.is_settled):
                # which says what is wrong; the model may differentiate
                with undone(self.model, None), torch.set_grad_enabled(own_mode):
                    self.model(*cloned(args), **cloned(dict(kwargs)))
            regions = self._captures.regions
            if regions is not None and self._settings[0] and not self._iterates():
                with undone(self.model, None):
                    regions(*cloned(args), **cloned(dict(kwargs)))

    def _iterates(self) -> bool:
        """Whether the model reads an iterator: whoever runs it on trial takes something from it for good."""
        return PythonState(self.model).reached.iterates

    def _partitions(self) -> list[Partition]:
        regions = self._captures.regions
        rest = regions.parts if regions is not None else []
        return [*(variant.parts for variant in self._captures.variants), *rest]

    def refresh(self) -> None:
        """Takes all weights for changed: after writes into ``weight.data`` or through NumPy, of which nobody tells."""
        for parts in self._partitions():
            for cluster in parts.clusters:
                cluster.refresh()

    # what there is to know

    def report(self) -> Report:
        """What runs compiled, what in PyTorch and why; print it, or ``save`` it as a picture."""
        found = Report(calls=self._calls, pytorch_calls=Counter(self._in_pytorch))
        variants, regions = self._captures.variants, self._captures.regions
        for index, variant in enumerate(variants):
            sizes = ", ".join(variant.captured.ranges)
            how = f"sizes {sizes} vary" if sizes else "for one set of sizes"
            found.capture.append(f"graph {index}: captured whole by torch.export, {how}")
        if regions is not None:
            found.capture += regions.summary()
        if self._captures.refused is not None:
            found.capture.append(f"not captured: {self._captures.refused}")
        if not found.capture:
            found.capture.append("not captured yet: that happens at the first call")
        for index, part in enumerate(self._partitions()):
            found.add_parts(part, f"{index}.")
        if regions is not None:
            found.segments = list(regions.segments)
            for index, selection in enumerate(regions.selections):
                found.add_selection(selection, f"{index}.")
        elif variants:
            for index, variant in enumerate(variants):
                found.add_selection(variant.selection, f"{index}.")
            found.segments = [s.within("0.") for s in variants[0].segments]
        return found

    @property
    def captured_programs(self) -> list[ExportedProgram]:
        """The programs captured so far that a call could take now: under these modes, of the tensors held now."""
        return [v.captured.exported for v in self._captures.variants if v.is_current()]

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("model"), name)

    def train(self, mode: bool = True) -> OptimizedModule:
        None if self.exported else super().train(mode)
        self.training = mode
        return self

    def __reduce__(self) -> Any:
        if self.exported:
            raise Torch2MLIRError(
                "an optimized exported program cannot be pickled",
                hint="torch2mlir.save(optimized, directory) keeps it",
            )
        return OptimizedModule, (self.model, self.config, *self._settings)

    def __deepcopy__(self, memo: Any) -> OptimizedModule:
        import copy

        if self.exported:
            return OptimizedModule.of_programs(copy.deepcopy(self.exported, memo), self.config)
        return OptimizedModule(copy.deepcopy(self.model, memo), self.config, *self._settings)


def _named(model: torch.nn.Module) -> Collection[str]:
    """The arguments that a model's code has names for."""
    try:
        function = model.function if isinstance(model, _Function) else model.forward
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # code of no Python
        return ()


class _Function(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.eval()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def _is_training(model: torch.nn.Module) -> bool:
    """Whether a model is in training mode; ``torch.jit.freeze`` takes the attribute away."""
    return bool(getattr(model, "training", False))
