"""The ways that the clusters of a graph run in, chosen one after the other within a budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch2mlir.hybrid.choice import PREPARED, Budget, Candidate, Choice, Option, Trial
from torch2mlir.hybrid.cluster import Cluster
from torch2mlir.hybrid.config import Config
from torch2mlir.hybrid.prepared import prepared
from torch2mlir.hybrid.ways import Way, installed


@dataclass
class Selection:
    """Chooses for the clusters of one graph.

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
        budget = Budget(str(self.config.tune), self.config.seconds, deadline)
        ways = self._ways()
        choice = Choice(
            name, cluster.region, args, len(cluster.ops), _options(cluster, ways), budget
        )
        chosen, eager = choice.made()
        _take(cluster, chosen, ways)
        self.remembered += choice.remembered
        self.trials += choice.trials
        self.ops -= len(cluster.ops)
        self.spent += time.perf_counter() - start
        return chosen.best, eager

    def _ways(self) -> list[Way]:
        asked = self.config.way
        return [asked] if asked is not None else list(installed())


def _options(cluster: Cluster, ways: Sequence[Way]) -> list[Option]:
    compiled = [
        Option(way.name, partial(cluster.compiled_by, way), way.engine, way == cluster.way)
        for way in ways
    ]
    return [Option(PREPARED, lambda: prepared(cluster.region)), *compiled]


def _take(cluster: Cluster, chosen: Candidate, ways: Sequence[Way]) -> None:
    if chosen.engine is not None:
        cluster.run_by(next(way for way in ways if way.engine is chosen.engine), chosen.call)
    elif chosen.name == PREPARED:
        cluster.leave_to_pytorch("PyTorch is fastest, with prepared weights", chosen.call)
    else:
        cluster.leave_to_pytorch("PyTorch is fastest, as it is")
