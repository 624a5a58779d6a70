"""Models that cannot be captured whole: the regions between graph breaks, as PyTorch's bytecode analysis finds them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import torch
import torch._dynamo.config as dynamo_config
from torch._dynamo.utils import counters
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._functorch.aot_autograd import aot_module_simplified
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from torch2mlir.frontends.dynamo.overlapping_arguments import in_pytorch_where_they_overlap
from torch2mlir.frontends.dynamo.random_draws import DECOMPOSITIONS
from torch2mlir.frontends.dynamo.single_elements import tensors_stay
from torch2mlir.frontends.dynamo.unused_draws import unused_draws_stay
from torch2mlir.frontends.fx.flex_attention import flex_attention_as_ops
from torch2mlir.frontends.module_state import Hooks
from torch2mlir.frontends.python_state import Methods
from torch2mlir.frontends.trials import cloned, undone
from torch2mlir.hybrid.capture import quiet
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.difference import difference, difference_left, left_behind
from torch2mlir.hybrid.failed_frames import FailedFrames
from torch2mlir.hybrid.partition import Partition, partition
from torch2mlir.hybrid.selection import Selection
from torch2mlir.hybrid.tune import MOST_ROUNDS, Segment, examine
from torch2mlir.turns import in_turn

_MOST_CAPTURES = 64
"""For how many kinds of calls PyTorch captures one piece of Python; further ones are not compiled."""


class _OfThread(threading.local):
    """What one thread has done: the runs of graphs."""

    runs = 0


class RegionByRegion:
    """A model under ``torch.compile``, every graph of it in parts.

    PyTorch guards what each graph assumes and captures anew what has changed; Python between the graphs runs as it is.
    A graph's first run is examined: its clusters run both ways, all else once.

    Args:
        model: the model.
        config: what may be compiled, and by whom.
        reason: why the model is not captured whole.
        named: the arguments that its code has names for. Of the order of others PyTorch's guards say nothing where they
            are handed on as ``**kwargs``.

    Attributes:
        reason: why the model is not captured whole.
        parts: the graphs captured so far.
        segments: the parts of the examined runs, in order.
        selections: how the clusters of each graph were tuned, if they were.
        recorded: how many graphs are left to PyTorch, which records them: the model differentiates what they compute.
        overlaps: how many runs of a graph are: an argument shares memory with one that it writes to.
        breaks: where Python comes between graphs: PyTorch's reason, and how often it was met.
    """

    def __init__(
        self, model: torch.nn.Module, config: Config, reason: str, named: Collection[str]
    ) -> None:
        self.config = config
        self.reason = reason
        self.parts = list[Partition]()
        self.segments = list[Segment]()
        self.selections = list[Selection | None]()
        self.recorded = self.overlaps = 0
        self.breaks = Counter[str]()
        self._failed = FailedFrames(self.breaks)
        self._lock = threading.Lock()
        self._of_thread = _OfThread()
        self._model = model
        self._named = named
        self._capture()

    def _capture(self) -> None:
        """Begins anew: PyTorch's guards look at much, and not for later hooks or other methods of a class."""
        self._hooks, self._methods = Hooks(self._model), Methods(self._model)
        self._calls = dict[tuple[str, ...], Callable[..., Any]]()
        self._call(())  # which marks the model, and a trial is to find no change

    def _call(self, others: tuple[str, ...]) -> Callable[..., Any]:
        """What PyTorch has made of the model for one order of the arguments that it has no names for."""
        if others not in self._calls:
            limits: dict[str, Any] = {"recompile_limit": _MOST_CAPTURES, "isolate_recompiles": True}
            with in_turn():  # PyTorch makes nothing of the model while another one is exported
                self._calls[others] = torch.compile(self._model, backend=self._backend, **limits)
        return self._calls[others]

    @property
    def runs(self) -> int:
        """How many graphs this thread has run, those left to PyTorch not counted."""
        return self._of_thread.runs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooks.changed() is not None or not self._methods.are_current():
            self._capture()
        known, runs, seen = len(self.parts), self.runs, Counter(counters["graph_break"])
        # arrays of NumPy's random numbers would come from PyTorch's generator
        with self._failed.as_breaks(), dynamo_config.patch(use_numpy_random_stream=True):
            others = tuple(name for name in kwargs if name not in self._named)
            result = self._call(others)(*args, **kwargs)
        if len(self.parts) > known:
            self._methods = Methods(self._model)  # parts that came since have others
        if len(self.parts) > known or self.runs == runs:
            met = Counter(counters["graph_break"]) - seen
            self.breaks.update({reason.splitlines()[0]: met[reason] for reason in met})
        return result

    def difference(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
        """How a call differs from the model's own, on copies of the arguments; None where that raises.

        Its results, and what it leaves behind: attributes, containers, buffers.
        """

        def outcome(run: Callable[..., Any]) -> tuple[list[Any], dict[str, Any]]:
            given = cloned((tuple(args), dict(kwargs)))
            with undone(self._model, None) as state:
                results = pytree.tree_leaves(run(*given[0], **given[1]))
                return results, left_behind(state)

        try:
            wanted, wanted_left = outcome(self._model)
        except Exception:  # a call says what is wrong
            return None
        try:
            found, found_left = outcome(self)
        except Exception as error:  # a model may do something else while PyTorch traces it
            said = (str(error).strip() or "no reason given").splitlines()[0]
            return f"they raise {type(error).__name__}: {said}"
        return difference(found, wanted, again=lambda: outcome(self._model)[0]) or difference_left(
            wanted_left, found_left, again=lambda: outcome(self._model)[1]
        )

    def summary(self) -> list[str]:
        """How the model is captured, a line each."""
        lines = [f"captured region by region, {len(self.parts)} so far: {self.reason}"]
        if self.recorded:
            lines.append(
                f"  left to PyTorch, for gradients that the model computes: {self.recorded}"
            )
        if self.overlaps:
            lines.append(f"  run by PyTorch, for arguments that share memory: {self.overlaps}")
        return lines + [f"  Python between regions: {reason}" for reason in self.breaks]

    def _backend(self, module: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if any(map(_is_recorded, module.graph.nodes)):
            self.recorded += 1
            return module.forward
        with flex_attention_as_ops(), tensors_stay(module), unused_draws_stay():
            compiled = aot_module_simplified(
                module,
                list(inputs),
                fw_compiler=self._compiled,
                decompositions=DECOMPOSITIONS,
                keep_inference_input_mutations=True,
            )
        return in_pytorch_where_they_overlap(module, compiled, self._count_overlap)

    def _count_overlap(self) -> None:
        self.overlaps += 1

    def _compiled(self, gm: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        with in_turn(), quiet(), unset_fake_temporarily(), self._lock:
            parts = partition(gm, self.config)
            index = len(self.parts)
            self.parts.append(parts)
            self.selections.append(None)
        examinations = MOST_ROUNDS if self.config.verify or self.config.tune else 0
        culprits = dict[str, str]()

        def run(*args: Any) -> Any:
            nonlocal examinations
            self._of_thread.runs += 1
            if not examinations:
                return self.parts[index].module(*args)
            examinations -= 1
            examination = examine(self.parts[index].module, args, self.config)
            if examination.culprits and examinations:  # this call has had PyTorch's results
                culprits.update(examination.culprits)
                with in_turn(), quiet(), self._lock:
                    self.parts[index] = partition(gm, self.config, withheld=culprits)
                return examination.results
            examinations = 0
            self.selections[index] = examination.selection
            for segment in examination.segments:
                self.segments.append(segment.within(f"{index}."))
            return examination.results

        return make_boxed_func(run)


def _is_recorded(node: Node) -> bool:
    """Whether autograd records a call of a graph that TorchDynamo has captured.

    A graph with a backward pass of its own is one step to autograd: no gradient leads to what is between its arguments
    and results, weights without part in what is differentiated get zeros and not None, and it is differentiated once.
    """
    if node.op in ("placeholder", "get_attr", "output"):
        return False
    values = pytree.tree_leaves(node.meta.get("example_value"))
    # without a step behind it, it is what it was made of: ``weight.float()`` of floats
    return any(isinstance(v, torch.Tensor) and v.requires_grad and not v.is_leaf for v in values)
