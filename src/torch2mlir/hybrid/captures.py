"""How a model becomes programs: captured whole for each kind of calls, checked against itself, or region by region."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.asked_of_tensors import flags_of, holds
from torch2mlir.frontends.changing_models import DrawnOnce, LaterCallsDiffer
from torch2mlir.frontends.example_tensors import apart
from torch2mlir.frontends.fx.function_transforms import transforms_ended
from torch2mlir.frontends.fx.numbers_of_constants import numbers_asked
from torch2mlir.frontends.fx.texts_of_numbers import is_of_text
from torch2mlir.frontends.module_state import GRAD_MODE, Modes
from torch2mlir.frontends.python_state import PythonState
from torch2mlir.frontends.reached_objects import Reached
from torch2mlir.frontends.trials import cloned, memory_kept, undone
from torch2mlir.frontends.updated_caches import Pairs
from torch2mlir.hybrid.capture import Captured, ExportedProgram, export_whole
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.partition import Partition, partition
from torch2mlir.hybrid.regions import RegionByRegion
from torch2mlir.hybrid.support import shortened
from torch2mlir.hybrid.tune import Examination, examine, examined
from torch2mlir.hybrid.variant import Variant
from torch2mlir.shared_generators import generators_kept
from torch2mlir.turns import in_turn

_MOST_CAPTURES = 8
"""For how many kinds of calls a model is captured; further ones run in PyTorch."""
_TRACED = {"is_compiling", "is_dynamo_compiling", "is_exporting", "is_torchdynamo_compiling"}
"""What a model's code calls to do something else while it is traced."""


class Captures:
    """What has been captured of a model of ``optimize``.

    Args:
        model: a module.
        exported: the programs of it, if it was given as programs.
        config: what may be compiled, and by whom.
        named: the arguments that the model's code has names for; None of programs.
        dynamic_shapes: "auto", or as ``torch.export.export`` takes it.

    Attributes:
        variants: captures of the whole model, each for a kind of calls.
        regions: the model region by region, if it cannot be captured whole.
        refused: why it cannot be captured at all, if it cannot.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        exported: Sequence[ExportedProgram],
        config: Config,
        named: Collection[str] | None,
        dynamic_shapes: Any,
    ) -> None:
        self.variants = list[Variant]()
        self.regions: RegionByRegion | None = None
        self.refused: str | None = None
        self.model, self.exported, self.config = model, exported, config
        self._named, self._dynamic_shapes = named, dynamic_shapes
        self._count = 0
        self._lock = threading.Lock()

    def own_tensors(self) -> list[torch.Tensor]:
        """The model's parameters and buffers."""
        return [*self.model.parameters(), *self.model.buffers()]

    def known(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Variant, Sequence[Any]] | None:
        """The capture that a call like others before goes to, and its flat arguments; None if there is none."""
        for variant in self.variants:
            if (leaves := variant.leaves_of(args, kwargs)) is not None:
                return variant, leaves
        return None

    @property
    def is_settled(self) -> bool:
        """Whether no capture of the whole model is made any more."""
        return self.regions is not None or self.refused is not None

    def variant(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Variant | None, list[Any] | None]:
        """The capture of the whole model for calls like this, made now if there was none, and its flat arguments.

        Returns:
            Twice None if there is none; then see :attr:`regions` and :attr:`refused`.
        """
        found = self._find(args, kwargs)
        if found[0] is not None or self.is_settled:
            return found
        with in_turn(), self._lock:
            found = self._find(args, kwargs)
            # arguments that share memory are in the way of no other call
            own = apart(args, kwargs, self.own_tensors())
            while self._find(*own)[0] is None and self._count < self._most_captures:
                self._count += 1
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
        for variant in self.variants:
            if variant.is_current():
                leaves = variant.captured.leaves(args, kwargs)
                if leaves is not None and holds(variant.flags, leaves):
                    return variant, leaves
        return None, None

    @generators_kept()
    @transforms_ended()
    def _capture(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Captures the model for calls like this, or finds that it has to be taken in another way."""
        state = PythonState(self.model)
        if state.reached.iterates and not self.exported:
            self._not_whole("it reads an iterator, which no trial can set back")
            return
        is_further = bool(self.variants) and not self.exported
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
                self.refused = shortened(reason)
                return
            if is_further or self.exported or not self._refuses(args, kwargs):
                self._not_whole(shortened(reason))
                if isinstance(error, LaterCallsDiffer) or not _TRACED.isdisjoint(
                    state.reached.names
                ):  # PyTorch's regions may lose a change, or be another program
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
            captured, parts = self._for_fewer_sizes(args, kwargs, captured, parts)
        reached = state.reached
        try:
            flags = flags_of(
                reached.asked, pytree.tree_leaves((tuple(args), captured.ordered(kwargs)))
            )
        except (
            CaptureError
        ) as error:  # of these arguments; TorchDynamo guards not all of them either
            self.refused = shortened(error.message)
            return
        variant = Variant(captured, parts, state, Modes(reached.names - {GRAD_MODE}), flags)
        problem = self._check(variant, args, kwargs) if is_like_it else None
        if problem is None:
            self.variants.append(variant)
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
            self._count -= 1
            return True
        return False

    def _exported(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], caches: Pairs
    ) -> ExportedProgram:
        if self.exported:
            return self.exported[self._count - 1]
        return export_whole(self.model, args, kwargs, self._dynamic_shapes, caches)

    def _for_fewer_sizes(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Captured, parts: Partition
    ) -> tuple[Captured, Partition]:
        """The model with a batch that varies, or for these sizes alone, if more of it can be compiled then.

        Pictures have sizes that a model takes for multiples of others, and a batch of any size.
        """
        for sizes in ("batch", None) if self._dynamic_shapes == "auto" else (None,):
            state, caches = PythonState(self.model), Pairs()
            try:
                with memory_kept(state):
                    exported = export_whole(self.model, args, kwargs, sizes, caches)
                    other = Captured(exported, self._named, caches)
            except Exception:  # whatever is in the way: there is a capture already
                continue
            finally:
                state.restore()
            if other.leaves(args, kwargs) is None:
                continue
            fewer = partition(other.graph_module, self.config, ranges=other.ranges)
            if len(fewer.kept) < len(parts.kept):
                captured, parts = other, fewer
            if not fewer.failures or not other.ranges:
                break
        return captured, parts

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
            self.refused = reason
        else:
            self.by_regions(reason)

    def _distrust(self, reason: str) -> None:
        """What was captured of the model is not the model, so other captures of it may not be either."""
        self.variants.clear()
        self._not_whole(reason)

    def _check_regions(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Where one capture of the model is wrong, the other may be too: then PyTorch runs it."""
        if self.regions is None:
            return
        if (problem := self.regions.difference(args, kwargs)) is not None:
            self.refused = f"{self.regions.reason}; nor are PyTorch's regions of it: {problem}"
            self.regions = None

    def by_regions(self, reason: str) -> None:
        """Takes the model region by region from now on; what those would be wrong about, PyTorch runs."""
        reached = Reached(self.model)
        if reached.draws or reached.pushes_out:
            wrong = (
                "takes what a generator of Python's draws for a constant"
                if reached.draws
                else "does not let go of what a full deque pushes out"
            )
            self.refused = f"{reason}; TorchDynamo {wrong}"
            return
        self.regions = RegionByRegion(self.model, self.config, reason, self._named or ())
