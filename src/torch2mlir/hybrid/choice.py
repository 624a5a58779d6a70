"""Which way of running a graph is the fastest that is right: measured within a budget, and remembered on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.fx import GraphModule

from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.fingerprint import fingerprint
from torch2mlir.hybrid.support import problem_of
from torch2mlir.runtime.cache import CodeCache, cache_from_environment, choice_key
from torch2mlir.runtime.compile_deadline import compiling_until
from torch2mlir.runtime.engine import Engine

Call = Callable[..., Sequence[Any]]

EAGER = "pytorch"
PREPARED = "pytorch, weights prepared"

_IREE_SECONDS = 0.02
"""An op of a cluster takes IREE's compiler so long, of models of language 0.01 to 0.025, of ResNet-50 0.06."""
_PATIENCE, _LEAST_PATIENCE = 4.0, 60.0
"""A compiler that has begun is given up after so many times the budget, in no less than these seconds."""
_ROUNDS = {"fast": 5, "full": 15}
_BURST = 0.02
"""Seconds of calls in a row; a call before them warms up what another library's threads have cooled down."""
_BEATEN = 1.5
"""Who takes longer than the fastest by this factor is not measured again."""
_NOISE = 1.05
"""A compiled function that takes no longer than PyTorch by more than measurements vary by is chosen before it."""


@dataclass
class Trial:
    """What was found out about one way to run a cluster.

    Attributes:
        cluster: its name.
        way: the engine's name, or how PyTorch runs it.
        outcome: "chosen", "slower", or what is against it.
        seconds: the shortest call; None if it was not measured.
    """

    cluster: str
    way: str
    outcome: str
    seconds: float | None = None


@dataclass
class Candidate:
    """A way that takes part.

    Attributes:
        name: of the way.
        call: takes the arguments and returns the results.
        engine: who runs it; None for PyTorch.
        best: the seconds of the shortest call.
    """

    name: str
    call: Call
    engine: Engine | None
    best: float = float("inf")


@dataclass(frozen=True)
class Option:
    """A way that may be chosen.

    Attributes:
        name: an engine's, or ``PREPARED``.
        make: compiles in this way; None if there is nothing to gain.
        engine: who runs it; None for PyTorch.
        is_ready: whether it has been compiled already, and costs nothing to try.
    """

    name: str
    make: Callable[[], Call | None]
    engine: Engine | None = None
    is_ready: bool = False


@dataclass(frozen=True)
class Budget:
    """What measuring may take: ``tune`` as it was asked for, its seconds, and when they end."""

    tune: str
    seconds: float
    deadline: float

    @property
    def patience(self) -> float:
        """When a compiler that does not end is given up: long after, for what has begun in time may well end."""
        return time.perf_counter() + max(_PATIENCE * self.seconds, _LEAST_PATIENCE)


class Choice:
    """The choice for one graph.

    Args:
        name: of the graph, for the report.
        region: the graph in PyTorch, which tells what is right.
        args: what it is measured on.
        ops: how many it has.
        options: the ways to choose among, beside PyTorch as it is.
        budget: what measuring may take.
        stays: whether it may stay with PyTorch if something else is right.

    Attributes:
        trials: what was found out.
        remembered: whether that was found out by an earlier choice.
    """

    def __init__(
        self,
        name: str,
        region: GraphModule,
        args: Sequence[Any],
        ops: int,
        options: Sequence[Option],
        budget: Budget,
        stays: bool = True,
    ) -> None:
        self.name = name
        self.region = region
        self.args = args
        self.ops = ops
        self.options = options
        self.budget = budget
        self.stays = stays
        self.trials = list[Trial]()
        self.remembered = False
        self.expected = region(*args)
        self.memory: CodeCache | None = cache_from_environment(default=True)
        self.key = choice_key(
            [option.engine for option in options if option.engine is not None],
            [
                *(budget.tune, str(stays), str(torch.get_num_threads())),
                fingerprint(region, args),
            ],
        )

    def made(self) -> tuple[Candidate, float]:
        """The fastest way that is right, and the seconds that PyTorch takes as it is."""
        return self._from_memory() or self._by_measuring()

    # what was found before

    def _from_memory(self) -> tuple[Candidate, float] | None:
        """The choice of an earlier process, if there is one and it is still right."""
        payload = None if self.memory is None else self.memory.load(self.key)
        if payload is None:
            return None
        found = json.loads(payload)
        candidate, problem = self._named(found["way"])
        if candidate is None or problem is not None:
            return None
        self.remembered = True
        self.trials = [Trial(self.name, *trial) for trial in found["trials"]]
        candidate.best = found["seconds"]
        eager: float = found["pytorch"]
        return candidate, eager

    def _named(self, name: str) -> tuple[Candidate | None, str | None]:
        if name == EAGER:
            return self._eager(), None
        options = [option for option in self.options if option.name == name]
        return self._try(options[0]) if options else (None, None)

    def _remember(self, chosen: Candidate, eager: float) -> None:
        if self.memory is not None:
            trials = [[trial.way, trial.outcome, trial.seconds] for trial in self.trials]
            found = {"way": chosen.name, "seconds": chosen.best, "pytorch": eager, "trials": trials}
            self.memory.store(self.key, json.dumps(found).encode())

    # measuring

    def _by_measuring(self) -> tuple[Candidate, float]:
        """Compiles and measures until the budget is spent, and takes the fastest."""
        candidates = self._candidates()
        race(candidates, self.args, _ROUNDS[self.budget.tune], self.budget.deadline)
        eager = candidates[0]
        ranked = sorted(candidates, key=lambda c: c.best / (_NOISE if c.engine else 1.0))
        if not self.stays:
            ranked = [*(c for c in ranked if c.engine), *(c for c in ranked if not c.engine)]
        for index, candidate in enumerate(ranked):
            # an engine may write into what it was lent: then later calls differ
            problem = None if candidate is eager else self._problem_with(candidate)
            if problem is None:
                self._note(candidate, "chosen")
                for other in ranked[index + 1 :]:
                    self._note(other, "slower")
                self._remember(candidate, eager.best)
                return candidate, eager.best
            self._note(candidate, f"differs from PyTorch after many calls: {problem}")
        raise AssertionError("PyTorch is always a candidate")

    def _candidates(self) -> list[Candidate]:
        """PyTorch, and what can be compiled in time and gives its results."""
        found = [self._eager()]
        for option in sorted(self.options, key=lambda option: not option.is_ready):
            reason = self._not_tried(option)
            candidate = None
            if reason is None:
                candidate, reason = self._try(option)
            if candidate is not None and reason is None:
                found.append(candidate)
            elif reason is not None:
                self.trials.append(Trial(self.name, option.name, reason))
        return found

    def _not_tried(self, option: Option) -> str | None:
        if option.is_ready:
            return None
        left = self.budget.deadline - time.perf_counter()
        if left < 0:
            return f"not tried: the {self.budget.seconds:g} s are spent"
        if option.name == "iree" and left < (needed := self.ops * _IREE_SECONDS):
            return (
                f"not tried: {self.ops} ops may take it {needed:.0f} s to compile, and {left:.0f} s are left "
                "(budget=.. gives it more)"
            )
        return None

    def _eager(self) -> Candidate:
        return Candidate(EAGER, self.region, None)

    def _try(self, option: Option) -> tuple[Candidate | None, str | None]:
        """A candidate, or none if there is nothing to make; and what is against it."""
        made = list[Candidate]()

        def attempt() -> None:
            if (call := option.make()) is not None:
                made.append(Candidate(option.name, call, option.engine))

        with compiling_until(self.budget.patience):
            problem = problem_of(attempt)
            if problem is not None:
                return None, f"refused: {problem}"
            if not made:
                return None, None
            problem = self._problem_with(made[0])
        return made[0], None if problem is None else f"differs from PyTorch: {problem}"

    def _problem_with(self, candidate: Candidate) -> str | None:
        """What is wrong with a candidate's results, or with the arguments after a call; None if nothing is."""
        copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in self.args]
        found = list[str | None]()

        def attempt() -> None:
            results = candidate.call(*copies)
            again = partial(self.region, *self.args)
            found.append(difference(results, self.expected, self.region.graph, again))
            if found[0] is None and difference(copies, self.args) is not None:
                found[0] = "it writes into its arguments"

        return problem_of(attempt) or found[0]

    def _note(self, candidate: Candidate, outcome: str) -> None:
        self.trials.append(Trial(self.name, candidate.name, outcome, candidate.best))


def race(
    candidates: Sequence[Candidate], args: Sequence[Any], rounds: int, deadline: float
) -> None:
    """Measures the shortest call of each, in turn; those that are far behind drop out."""
    racing = list(candidates)
    for _ in range(rounds):
        for candidate in racing:
            candidate.best = min(candidate.best, _shortest(partial(candidate.call, *args)))
        fastest = min(candidate.best for candidate in candidates)
        racing = [c for c in racing if c.best < fastest * _BEATEN]
        if time.perf_counter() > deadline or len(racing) < 2:
            return


def _shortest(call: Callable[[], Any]) -> float:
    """The shortest of a burst of calls, in seconds."""
    call()
    best, start = float("inf"), time.perf_counter()
    while True:
        before = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - before)
        if now - start > _BURST:
            return best
