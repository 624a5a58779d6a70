"""A process that works on entries: names on standard input, outcomes as JSON on standard output.

A process of its own, because an engine may take it down and an entry may hang; see ``pool.py``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

import torch

from tests.opdb.outcome import outcomes
from tests.opdb.programs import Entry


def main() -> None:
    """Serve until the input ends. Arguments: the number of samples, then the targets."""
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    samples, targets = int(sys.argv[1]), sys.argv[2:]
    for line in sys.stdin:
        operator, dtype = line.rstrip("\n").split("\t")
        found = outcomes(Entry(operator, dtype), targets, samples)
        answers.write(json.dumps({t: asdict(outcome) for t, outcome in found.items()}) + "\n")


if __name__ == "__main__":
    main()
