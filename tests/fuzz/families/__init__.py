"""Kinds of lines, one file per family; importing this registers them all."""

from tests.fuzz.families import (  # noqa: F401
    blocks,
    branches,
    casts,
    constants,
    elementwise,
    indexing,
    jumps,
    layers,
    loops,
    movement,
    reduction,
    sizes,
    sorting,
    writes,
)
