"""Engines with several threads, as users have them; tests have one, and two of them side by side are faster."""

from __future__ import annotations

import torch

from torch2mlir.runtime import small_programs

SMALL = small_programs._MOST
"""What one thread is enough for, also where tests have small programs keep their threads."""


def use_threads(count: int) -> None:
    """Has engines that this process makes from now on run on so many threads, small programs too."""
    torch.set_num_threads(count)
    if count > 1:
        small_programs._MOST = -1
