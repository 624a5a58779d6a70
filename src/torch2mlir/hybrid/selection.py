"""Which way of running a cluster is the fastest that is right: measured within a budget, and remembered on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from torch2mlir.hybrid.cluster import Cluster, Compiled
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.difference import difference
from torch2mlir.hybrid.fingerprint import fingerprint
from torch2mlir.hybrid.prepared import prepared
from torch2mlir.hybrid.support import problem_of
from torch2mlir.hybrid.ways import Way, installed
from torch2mlir.runtime.cache import CodeCache, cache_from_environment, choice_key

EAGER = "pytorch"
PREPARED = "pytorch, weights prepared"

_LARGE = 48
"""Ops of a cluster for which IREE compiles longer than "fast" is meant to take."""
_ROUNDS = {"fast": 3, "full": 10}
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
class _Candidate:
    name: str
    call: Compiled
    way: Way | None
    best: float = float("inf")


@dataclass
class Selection:
    """Chooses for the clusters of one graph, one after the other.

    Attributes:
        config: what to choose among, and the budget.
        ops: the ops of all clusters, by which the budget is shared out.
        trials: what was tried.
        spent: seconds that it took.
        remembered: how many clusters' choices came from the disk.
    """

    config: Config
    ops: int
    trials: list[Trial] = field(default_factory=list)
    spent: float = 0.0
    remembered: int = 0

    def summary(self) -> str:
        """What it took, in a line."""
        known = f", {self.remembered} of the choices known from before" if self.remembered else ""
        return f"tuned ({self.config.tune}) in {self.spent:.3g} of {self.config.seconds:g} s{known}"

    def choose(self, name: str, cluster: Cluster, args: Sequence[Any]) -> tuple[float, float]:
        """Lets a cluster run in the fastest way that gives PyTorch's results; its seconds, and those of PyTorch."""
        start = time.perf_counter()
        left = max(self.config.seconds - self.spent, 0.0)
        deadline = start + left * len(cluster.ops) / max(self.ops, len(cluster.ops))
        choice = _Choice(name, cluster, args, self.config, deadline)
        found = choice.from_memory() or choice.by_measuring()
        self.remembered += choice.remembered
        self.trials += choice.trials
        self.ops -= len(cluster.ops)
        self.spent += time.perf_counter() - start
        return found


class _Choice:
    """The choice for one cluster."""

    def __init__(
        self, name: str, cluster: Cluster, args: Sequence[Any], config: Config, deadline: float
    ) -> None:
        self.name = name
        self.cluster = cluster
        self.args = args
        self.config = config
        self.deadline = deadline
        self.trials = list[Trial]()
        self.remembered = False
        self.expected = cluster.region(*args)
        self.memory: CodeCache | None = cache_from_environment(default=True)
        asked = config.way
        self.ways = [asked] if asked is not None else list(installed())
        self.key = choice_key(
            [way.engine for way in self.ways],
            [str(config.tune), str(torch.get_num_threads()), fingerprint(cluster.region, args)],
        )

    # what was found before

    def from_memory(self) -> tuple[float, float] | None:
        """Takes the choice of an earlier process, if there is one and it is still right."""
        payload = None if self.memory is None else self.memory.load(self.key)
        if payload is None:
            return None
        found = json.loads(payload)
        candidate, problem = self._candidate(found["way"])
        if candidate is None or problem is not None:
            return None
        self.remembered = True
        self.trials = [Trial(self.name, *trial) for trial in found["trials"]]
        self._take(candidate)
        eager: float = found["pytorch"]
        return found["seconds"], eager

    def _candidate(self, name: str) -> tuple[_Candidate | None, str | None]:
        if name == EAGER:
            return self._eager(), None
        if name == PREPARED:
            return self._try(PREPARED, lambda: prepared(self.cluster.region), None)
        for way in self.ways:
            if way.name == name:
                return self._try_way(way)
        return None, None

    def _remember(self, chosen: _Candidate, eager: float) -> None:
        if self.memory is not None:
            trials = [[trial.way, trial.outcome, trial.seconds] for trial in self.trials]
            found = {"way": chosen.name, "seconds": chosen.best, "pytorch": eager, "trials": trials}
            self.memory.store(self.key, json.dumps(found).encode())

    # measuring

    def by_measuring(self) -> tuple[float, float]:
        """Compiles and measures until the budget is spent, and takes the fastest."""
        candidates = self._candidates()
        _race(candidates, self.args, _ROUNDS[str(self.config.tune)], self.deadline)
        eager = candidates[0]
        ranked = sorted(candidates, key=lambda c: c.best / (_NOISE if c.way else 1.0))
        for index, candidate in enumerate(ranked):
            # an engine may write into what it was lent: then later calls differ
            problem = None if candidate is eager else self._problem_with(candidate)
            if problem is None:
                self._note(candidate, "chosen")
                for other in ranked[index + 1 :]:
                    self._note(other, "slower")
                self._take(candidate)
                self._remember(candidate, eager.best)
                return candidate.best, eager.best
            self._note(candidate, f"differs from PyTorch after many calls: {problem}")
        raise AssertionError("PyTorch is always a candidate")

    def _candidates(self) -> list[_Candidate]:
        """PyTorch, and what can be compiled in time and gives its results."""
        found = [self._eager()]
        first = [way for way in self.ways if way == self.cluster.way]
        others = [way for way in self.ways if way != self.cluster.way]
        ready, problem = self._try(PREPARED, lambda: prepared(self.cluster.region), None)
        if ready is not None and problem is None:
            found.append(ready)
        elif problem is not None:
            self.trials.append(Trial(self.name, PREPARED, problem))
        for way in (*first, *others):
            reason = self._not_tried(way)
            candidate = None
            if reason is None:
                candidate, reason = self._try_way(way)
            if candidate is not None and reason is None:
                found.append(candidate)
            else:
                self.trials.append(Trial(self.name, way.name, str(reason)))
        return found

    def _not_tried(self, way: Way) -> str | None:
        if way == self.cluster.way:
            return None
        if way.name == "iree" and self.config.tune == "fast" and len(self.cluster.ops) > _LARGE:
            return "not tried: it compiles large clusters slowly (tune='full' does)"
        late = time.perf_counter() > self.deadline
        return f"not tried: the {self.config.seconds:g} s are spent" if late else None

    def _eager(self) -> _Candidate:
        return _Candidate(EAGER, self.cluster.region, None)

    def _try_way(self, way: Way) -> tuple[_Candidate | None, str | None]:
        return self._try(way.name, lambda: self.cluster.compiled_by(way), way)

    def _try(
        self, name: str, make: Callable[[], Compiled | None], way: Way | None
    ) -> tuple[_Candidate | None, str | None]:
        """A candidate, or none if there is nothing to make; and what is against it."""
        made = list[_Candidate]()

        def attempt() -> None:
            if (call := make()) is not None:
                made.append(_Candidate(name, call, way))

        problem = problem_of(attempt)
        if problem is not None:
            return None, f"refused: {problem}"
        if not made:
            return None, None
        problem = self._problem_with(made[0])
        return made[0], None if problem is None else f"differs from PyTorch: {problem}"

    def _problem_with(self, candidate: _Candidate) -> str | None:
        """What is wrong with a candidate's results, or with the arguments after a call; None if nothing is."""
        copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in self.args]
        found = list[str | None]()

        def attempt() -> None:
            results = candidate.call(*copies)
            found.append(difference(results, self.expected))
            if found[0] is None and difference(copies, self.args) is not None:
                found[0] = "it writes into its arguments"

        return problem_of(attempt) or found[0]

    def _note(self, candidate: _Candidate, outcome: str) -> None:
        self.trials.append(Trial(self.name, candidate.name, outcome, candidate.best))

    def _take(self, candidate: _Candidate) -> None:
        if candidate.way is not None:
            self.cluster.run_by(candidate.way, candidate.call)
        elif candidate.name == PREPARED:
            self.cluster.leave_to_pytorch(
                "PyTorch is fastest, with prepared weights", candidate.call
            )
        else:
            self.cluster.leave_to_pytorch("PyTorch is fastest, as it is")


def _race(
    candidates: Sequence[_Candidate], args: Sequence[Any], rounds: int, deadline: float
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
