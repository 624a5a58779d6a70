"""Random numbers of the ``lazy`` device: a step has one seed, of PyTorch's generator as it is at the step's first draw.

Programs draw their seed when they run, which is later than the user's call: by then the generator may have been seeded
for something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from torch2mlir.program import SeedInput


class Draws:
    """Of one step: the state of PyTorch's generator before its first draw, and after."""

    def __init__(self) -> None:
        self._before: torch.Tensor | None = None
        self._after: torch.Tensor | None = None

    def are_of_another_state(self) -> bool:
        """Whether there are some, and the generator has been seeded, or drawn from, since."""
        return self._after is not None and not torch.equal(self._after, torch.get_rng_state())

    def begin(self) -> None:
        """Before the device records a draw; takes the seed off the generator with the first."""
        if self._before is None:
            self._before = torch.get_rng_state()
            SeedInput.draw()
            self._after = torch.get_rng_state()

    def forget(self) -> None:
        """Ends the step."""
        self._before = self._after = None

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """While it lasts, the next seed is the one of these draws. Afterwards there are none."""
        before = self._before
        self.forget()
        if before is None:
            yield
            return
        now = torch.get_rng_state()
        torch.set_rng_state(before)
        try:
            yield
        finally:
            torch.set_rng_state(now)
