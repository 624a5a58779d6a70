"""``torch2mlir.optimize``: a model whose supported regions run compiled, and the rest in PyTorch."""

from __future__ import annotations

import dataclasses
import inspect
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
from torch.compiler import is_dynamo_compiling
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError, InputError, Torch2MLIRError
from torch2mlir.frontends.asked_of_tensors import flags_of, holds
from torch2mlir.frontends.changing_models import DrawnOnce, LaterCallsDiffer
from torch2mlir.frontends.example_tensors import apart
from torch2mlir.frontends.fx.function_transforms import transforms_ended
from torch2mlir.frontends.fx.numbers_of_constants import numbers_asked
from torch2mlir.frontends.fx.texts_of_numbers import is_of_text
from torch2mlir.frontends.module_state import GRAD_MODE, Modes
from torch2mlir.frontends.python_state import PythonState
from torch2mlir.frontends.reached_objects import AroundModel, Reached
from torch2mlir.frontends.trials import cloned, memory_kept, undone
from torch2mlir.frontends.updated_caches import Pairs, share_parts
from torch2mlir.hybrid.capture import Captured, ExportedProgram, export_whole
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.partition import Partition, partition
from torch2mlir.hybrid.programs import GUARD, module_of
from torch2mlir.hybrid.regions import RegionByRegion
from torch2mlir.hybrid.report import Report
from torch2mlir.hybrid.support import shortened
from torch2mlir.hybrid.tune import Examination, examine, examined
from torch2mlir.hybrid.variant import Variant
from torch2mlir.hybrid.ways import check_any_installed
from torch2mlir.runtime.engine import is_traced
from torch2mlir.runtime.out_of_sight import out_of_sight
from torch2mlir.shared_generators import generators_kept
from torch2mlir.turns import in_turn

_MOST_CAPTURES = 8
"""For how many kinds of calls a model is captured; further ones run in PyTorch."""
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
        self._is_lazy = any(map(is_lazy, self._own_tensors()))
        self._named = None if self.exported else _named(model)
        self.training = model.training
        self.config = config
        self._settings = (allow_tracing, dynamic_shapes)
        self._variants = list[Variant]()
        self._regions: RegionByRegion | None = None
        self._refused: str | None = None
        self._captures = 0
        self._capture_lock = threading.Lock()
        self._calls = 0
        self._in_pytorch = Counter[str]()
        self._warned = False
        self._out_of_sight = out_of_sight(self._called)
        if not allow_tracing and not self.exported:
            self._by_regions("allow_tracing is off")

    def _own_tensors(self) -> list[torch.Tensor]:
        return [*self.model.parameters(), *self.model.buffers()]

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
        return self._called(args, kwargs)

    def _called(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.__dict__["_calls"] += 1  # a module's own way to set an attribute is slow
        if (known := self._known(args, kwargs)) is not None:
            variant, given = known
            try:
                return variant(given)
            except _CHECKS_RAISE as error:
                return self._as_in_pytorch(error, args, kwargs)
        reason = self._reason_for_pytorch(args, kwargs)
        if reason is None:
            with torch.no_grad():
                found, leaves = self._variant(args, kwargs)
                shares = found is not None and found.captured.caches and share_parts(args, kwargs)
                if found is not None and leaves is not None and not shares:
                    found.remember(args, kwargs)
                    try:
                        return found.called(leaves, args, kwargs)
                    except _CHECKS_RAISE as error:
                        return self._as_in_pytorch(error, args, kwargs)
                if (regions := self._regions) is not None:
                    runs = regions.runs
                    results = regions(*args, **kwargs)
                    if regions.runs == runs:
                        self._in_pytorch[_NO_GRAPH] += 1
                    return results
                reason = self._refused or "another kind of call than any captured one"
        self._in_pytorch[reason] += 1
        return self._by_pytorch(args, kwargs)

    def _known(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Variant, Sequence[Any]] | None:
        """The capture that a call like others before goes to, and its flat arguments; None if there is none."""
        takes_grad = self.model.training or self._asks_for_grad_mode
        if takes_grad and torch.is_grad_enabled():
            return None
        for variant in self._variants:
            if (leaves := variant.leaves_of(args, kwargs)) is not None:
                return variant, leaves
        return None

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
        if any(t.layout is not torch.strided for t in tensors):
            return "tensors that are not dense"
        if self._is_lazy:
            self._is_lazy = any(map(is_lazy, self._own_tensors()))
            if self._is_lazy:
                return "a first call decides the sizes of parameters"
        if not torch.is_grad_enabled():
            return None
        if self._asks_for_grad_mode:  # captures are made without
            return "the model asks whether grad mode is on"
        wanted = any(t.requires_grad for t in tensors)
        if not wanted and self.model.training:
            wanted = any(p.requires_grad for p in self.model.parameters())
        if wanted and not self._warned:
            self._warned = True
            warnings.warn(
                f"{WANTS_GRADIENT}, so this call runs in PyTorch. Use model.eval() or torch.no_grad(), or "
                'torch.compile(model, backend="torch2mlir") to train',
                stacklevel=4,
            )
        return WANTS_GRADIENT if wanted else None

    def _variant(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Variant | None, list[Any] | None]:
        found = self._find(args, kwargs)
        if found[0] is not None or self._regions is not None or self._refused is not None:
            return found
        with in_turn(), self._capture_lock:
            found = self._find(args, kwargs)
            # arguments that share memory are in the way of no other call
            own = apart(args, kwargs, self._own_tensors())
            while self._find(*own)[0] is None and self._captures < self._most_captures:
                self._captures += 1
                self._capture(*own)
                found = self._find(args, kwargs)
                if not self.exported:
                    break
            return found

    @property
    def _most_captures(self) -> int:
        return len(self.exported) or _MOST_CAPTURES

    def _find(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Variant | None, list[Any] | None]:
        for variant in self._variants:
            if variant.is_current():
                leaves = variant.captured.leaves(args, kwargs)
                if leaves is not None and holds(variant.flags, leaves):
                    return variant, leaves
        return None, None

    # capture

    @generators_kept()
    def prepare(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Captures, compiles and examines ahead of the first call with arguments like these."""
        own_mode = torch.is_grad_enabled()
        with torch.no_grad():
            if self._reason_for_pytorch(args, kwargs) is not None and not self.exported:
                return
            found, _ = self._variant(args, kwargs)
            if found is None and not (self.exported or self._regions or self._refused):
                # which says what is wrong; the model may differentiate
                with undone(self.model, None), torch.set_grad_enabled(own_mode):
                    self.model(*cloned(args), **cloned(dict(kwargs)))
            if self._regions is not None and self._settings[0] and not self._iterates():
                with undone(self.model, None):
                    self._regions(*cloned(args), **cloned(dict(kwargs)))

    def _iterates(self) -> bool:
        """Whether the model reads an iterator: whoever runs it on trial takes something from it for good."""
        return PythonState(self.model).reached.iterates

    @generators_kept()
    @transforms_ended()
    def _capture(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Captures the model for calls like this, or finds that it has to be taken in another way."""
        state = PythonState(self.model)
        if state.reached.iterates and not self.exported:
            self._not_whole("it reads an iterator, which no trial can set back")
            return
        is_further = bool(self._variants) and not self.exported
        if is_further and self._refuses(args, kwargs):  # a run takes less than a failing capture
            return
        caches = Pairs()
        try:
            with memory_kept(state):
                exported = self._exported(args, kwargs, caches)
            captured = Captured(exported, self._named, caches)
        except Exception as error:  # ours or PyTorch's: the model may run all the same
            reason = (
                error.message
                if isinstance(error, CaptureError)
                else f"{type(error).__name__}: {error}"
            )
            # regions make no text either, or of the first number, and know no caches
            if is_of_text(error) or isinstance(error, DrawnOnce):
                self._refused = shortened(reason)
                return
            if is_further or self.exported or not self._refuses(args, kwargs):
                self._not_whole(shortened(reason))
                if isinstance(error, LaterCallsDiffer):  # PyTorch's regions may lose a change
                    self._check_regions(args, kwargs)
            return
        finally:
            state.restore()
        if numbers_asked(exported).asked and state.reached.tensors:
            self._distrust(
                "it reads numbers in tensors that it holds, which PyTorch takes for constants"
            )
            return
        is_like_it = captured.leaves(args, kwargs) is not None
        if not is_like_it and not self.exported:
            self._distrust("the captured program does not take the call it was captured from")
            return
        parts = partition(captured.graph_module, self.config, ranges=captured.ranges)
        if parts.failures and captured.ranges and is_like_it and not self.exported:
            captured, parts = self._for_given_sizes(args, kwargs, captured, parts)
        reached = state.reached
        try:
            flags = flags_of(
                reached.asked, pytree.tree_leaves((tuple(args), captured.ordered(kwargs)))
            )
        except (
            CaptureError
        ) as error:  # of these arguments; TorchDynamo guards not all of them either
            self._refused = shortened(error.message)
            return
        variant = Variant(captured, parts, state, Modes(reached.names - {GRAD_MODE}), flags)
        problem = self._check(variant, args, kwargs) if is_like_it else None
        if problem is None:
            self._variants.append(variant)
        else:
            self._distrust(problem)
            self._check_regions(args, kwargs)

    def _refuses(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Whether the model itself raises for arguments like these, of which no capture is to be asked then."""
        given = cloned((tuple(args), dict(kwargs)))
        try:
            with undone(self.model, None):
                self.model(*given[0], **given[1])
        except Exception:
            self._captures -= 1
            return True
        return False

    def _exported(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], caches: Pairs
    ) -> ExportedProgram:
        if self.exported:
            return self.exported[self._captures - 1]
        return export_whole(self.model, args, kwargs, self._settings[1], caches)

    def _for_given_sizes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Captured, parts: Partition
    ) -> tuple[Captured, Partition]:
        """The model for these sizes alone, if more of it can be compiled then; else what there is."""
        state, caches = PythonState(self.model), Pairs()
        try:
            with memory_kept(state):
                exported = export_whole(self.model, args, kwargs, None, caches)
                other = Captured(exported, self._named, caches)
        except Exception:  # whatever is in the way: there is a capture already
            return captured, parts
        finally:
            state.restore()
        if other.leaves(args, kwargs) is None:
            return captured, parts
        static = partition(other.graph_module, self.config, ranges=other.ranges)
        return (other, static) if len(static.kept) < len(parts.kept) else (captured, parts)

    def _check(
        self, variant: Variant, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> str | None:
        """Runs the model and its capture on copies of the arguments; what is wrong with the capture, if anything."""
        if not self.config.verify and not self.config.tune:
            return None
        given = cloned((tuple(args), dict(kwargs)))
        with undone(self.model, variant.captured.written) as before:
            expected = self.model(*given[0], **given[1])
            if before.changed(buffers=True):
                return "a call changes Python objects that the model reads"
        if variant.captured.leaves(*cloned((tuple(args), dict(kwargs)))) is None:
            return "the captured program does not take copies of its arguments"
        parts, examination = self._examined(variant, args, kwargs)
        variant.take(parts, examination)
        wanted = pytree.tree_leaves(expected)
        if len(wanted) != len(examination.results):
            return "the captured program has another number of results"
        if pytree.tree_structure(expected) != variant.captured.out_spec:
            return "the captured program arranges its results otherwise"

        def again() -> Any:
            again_given = cloned((tuple(args), dict(kwargs)))
            with undone(self.model, variant.captured.written):
                return self.model(*again_given[0], **again_given[1])

        graph = variant.captured.graph_module.graph
        problem = difference(examination.results, wanted, graph, again)
        return None if problem is None else f"the captured program is not the model: {problem}"

    def _examined(
        self, variant: Variant, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Partition, Examination]:
        """The parts of a capture without the ops that differ from PyTorch, each run from the same state."""
        captured = variant.captured

        def run(parts: Partition) -> Examination:
            leaves = captured.leaves(*cloned((tuple(args), dict(kwargs))))
            assert leaves is not None
            with undone(self.model, captured.written):
                return examine(parts.module, leaves, self.config)

        def without(culprits: Mapping[str, str]) -> Partition:
            ranges = captured.ranges
            return partition(captured.graph_module, self.config, ranges=ranges, withheld=culprits)

        return examined(variant.parts, run, without)

    def _not_whole(self, reason: str) -> None:
        """The model cannot be captured whole: region by region, then, where it is Python."""
        if self.exported or isinstance(self.model, torch.jit.ScriptModule):
            self._refused = reason
        else:
            self._by_regions(reason)

    def _distrust(self, reason: str) -> None:
        """What was captured of the model is not the model, so other captures of it may not be either."""
        self._variants.clear()
        self._not_whole(reason)

    def _check_regions(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Where one capture of the model is wrong, the other may be too: then PyTorch runs it."""
        if self._regions is None:
            return
        if (problem := self._regions.difference(args, kwargs)) is not None:
            self._refused = f"{self._regions.reason}; nor are PyTorch's regions of it: {problem}"
            self._regions = None

    def _by_regions(self, reason: str) -> None:
        reached = Reached(self.model)
        if reached.draws or reached.pushes_out:
            wrong = (
                "takes what a generator of Python's draws for a constant"
                if reached.draws
                else "does not let go of what a full deque pushes out"
            )
            self._refused = f"{reason}; TorchDynamo {wrong}"
            return
        self._regions = RegionByRegion(self.model, self.config, reason, self._named or ())

    def _partitions(self) -> list[Partition]:
        regions = self._regions.parts if self._regions is not None else []
        return [*(variant.parts for variant in self._variants), *regions]

    def refresh(self) -> None:
        """Takes all weights for changed: after writes into ``weight.data`` or through NumPy, of which nobody tells."""
        for parts in self._partitions():
            for cluster in parts.clusters:
                cluster.refresh()

    # what there is to know

    def report(self) -> Report:
        """What runs compiled, what in PyTorch and why; print it, or ``save`` it as a picture."""
        found = Report(calls=self._calls, pytorch_calls=Counter(self._in_pytorch))
        for index, variant in enumerate(self._variants):
            sizes = ", ".join(variant.captured.ranges)
            how = f"sizes {sizes} vary" if sizes else "for one set of sizes"
            found.capture.append(f"graph {index}: captured whole by torch.export, {how}")
        if self._regions is not None:
            found.capture += self._regions.summary()
        if self._refused is not None:
            found.capture.append(f"not captured: {self._refused}")
        if not found.capture:
            found.capture.append("not captured yet: that happens at the first call")
        for index, part in enumerate(self._partitions()):
            found.add_parts(part, f"{index}.")
        if self._regions is not None:
            found.segments = list(self._regions.segments)
            for index, selection in enumerate(self._regions.selections):
                found.add_selection(selection, f"{index}.")
        elif self._variants:
            for index, variant in enumerate(self._variants):
                found.add_selection(variant.selection, f"{index}.")
            found.segments = [s.within("0.") for s in self._variants[0].segments]
        return found

    @property
    def captured_programs(self) -> list[ExportedProgram]:
        """The programs captured so far that a call could take now: under these modes, of the tensors held now."""
        return [v.captured.exported for v in self._variants if v.is_current()]

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
