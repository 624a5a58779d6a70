"""What has happened to the graphs of ``torch.compile``: counters, and one warning for each thing that PyTorch runs."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace


class FallbackWarning(UserWarning):
    """Something of a model runs in PyTorch because it cannot be compiled."""


@dataclass
class Metrics:
    """What has happened to graphs of ``torch.compile`` since the start, or since ``reset_metrics()``.

    Attributes:
        graphs: forward and backward graphs that came from PyTorch.
        compiled: segments of graphs compiled; one without fallback is one segment.
        nodes_compiled: calls in these.
        programs: compiled programs, of which a segment has one for each combination of sizes where the engine needs
            static shapes.
        fallbacks: calls that PyTorch runs because they cannot be compiled, by operator.
        reasons: why, by operator; of the first time.
        draws: calls that PyTorch runs because they draw random numbers from its generator.
        choices: a line for every segment about who runs it, with the option ``tune``, or because a rule gives it to
            another engine than XLA.
    """

    graphs: int = 0
    compiled: int = 0
    nodes_compiled: int = 0
    programs: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    draws: int = 0
    choices: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"graphs {self.graphs}: {self.compiled} segments of {self.nodes_compiled} calls compiled, "
            f"{self.programs} programs; {self.draws} random draws and {self.fallbacks.total()} other calls in PyTorch"
        ]
        lines += self.choices
        for name, count in sorted(self.fallbacks.items()):
            lines.append(f"run by PyTorch: {name} x{count}: {self.reasons.get(name, '')}")
        return "\n".join(lines)


class Recorder:
    """Counts what happens, from any thread, and warns of each operator that PyTorch runs once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._metrics = Metrics()
        self._warned = set[str]()

    def snapshot(self) -> Metrics:
        """The counters as they are now."""
        with self._lock:
            now = self._metrics
            return replace(
                now,
                fallbacks=Counter(now.fallbacks),
                reasons=dict(now.reasons),
                choices=list(now.choices),
            )

    def reset(self) -> None:
        """Counts, and warns, from the beginning."""
        with self._lock:
            self._metrics = Metrics()
            self._warned.clear()

    def count(self, **amounts: int) -> None:
        """Adds to counters by their names."""
        with self._lock:
            for name, amount in amounts.items():
                setattr(self._metrics, name, getattr(self._metrics, name) + amount)

    def chose(self, line: str, left: Iterable[str], reason: str) -> None:
        """Notes who runs a segment, and the calls that PyTorch runs because it is faster: nothing to warn of."""
        with self._lock:
            self._metrics.choices.append(line)
            for name in left:
                self._metrics.fallbacks[name] += 1
                self._metrics.reasons.setdefault(name, reason)

    def fall_back(self, operators: Iterable[str], reason: str) -> None:
        """Notes that PyTorch runs calls of these operators."""
        new = list[str]()
        with self._lock:
            for name in operators:
                self._metrics.fallbacks[name] += 1
                self._metrics.reasons.setdefault(name, reason)
                if name not in self._warned:
                    self._warned.add(name)
                    new.append(name)
        if new:
            warnings.warn(
                f"PyTorch runs {', '.join(new)}, which torch2mlir cannot compile: {reason}",
                FallbackWarning,
                stacklevel=2,
            )
