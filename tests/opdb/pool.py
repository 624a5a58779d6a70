"""Runs entries in worker processes, and survives what happens to them."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.opdb.outcome import Outcome
from tests.opdb.programs import Entry

SECONDS = 120.0
"""An entry that takes longer is a failure of its own kind."""
Results = dict[Entry, dict[str, Outcome]]
ROOT = Path(__file__).resolve().parent.parent.parent


class _Worker:
    def __init__(self, targets: Sequence[str], samples: int) -> None:
        command = [sys.executable, "-m", "tests.opdb.worker", str(samples), *targets]
        settings = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        self.targets = targets
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **settings},
        )

    def run(self, entry: Entry) -> dict[str, Outcome]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{entry.operator}\t{entry.dtype}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        if not ready:
            self.stop()
            return dict.fromkeys(self.targets, Outcome("timeout", f"over {SECONDS:.0f} s"))
        answer = self.process.stdout.readline()
        if not answer:
            self.stop()
            return dict.fromkeys(self.targets, Outcome("crash", "the process died"))
        return {target: Outcome(**outcome) for target, outcome in json.loads(answer).items()}

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def run(
    entries: Iterable[Entry],
    targets: Sequence[str],
    samples: int,
    workers: int,
    done: Callable[[Entry, dict[str, Outcome]], None],
) -> Results:
    """Works on all entries, in so many processes; ``done`` is told of each. The order is that of the entries.

    An entry that takes its process down is tried target by target, to say which one did it.
    """
    waiting = queue.SimpleQueue[Entry]()
    wanted = list(entries)
    for entry in wanted:
        waiting.put(entry)
    results: Results = {}

    def serve() -> None:
        worker = _Worker(targets, samples)
        while True:
            try:
                entry = waiting.get_nowait()
            except queue.Empty:
                break
            found = worker.run(entry)
            if not worker.is_alive:
                if len(targets) > 1:
                    found = _apart(entry, targets, samples)
                worker = _Worker(targets, samples)
            results[entry] = found
            done(entry, found)
        worker.stop()

    threads = [threading.Thread(target=serve) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {entry: results[entry] for entry in wanted}


def _apart(entry: Entry, targets: Sequence[str], samples: int) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for target in targets:
        worker = _Worker([target], samples)
        found |= worker.run(entry)
        worker.stop()
    return found
