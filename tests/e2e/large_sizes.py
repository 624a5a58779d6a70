"""Sizes of cases at which engines compile otherwise: constants that are not kept, tiles, sums in parts."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from math import prod

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import FlopCounterMode

from tests.e2e.registry import Case, Input, resolved

ELEMENTS = 600_000
"""Of the largest argument: IREE keeps constants of up to 262,144 floats, and splits what is longer otherwise."""
MOST_RESULTS = 4_000_000
MOST_OPERATIONS = 2e9
"""Of a call: what takes longer is left out."""
_SIZES = (2, 3, 8, 16, 31, 32, 57, 64, 100, 128, 256, 509, 512, 1000, 1024, 2048, 4096, 9973, 16384)
_SIZES += (65536, 131_072, 300_000, 400_000)


def large_sizes(case: Case) -> Mapping[str, int] | None:
    """Sizes of the named dimensions with which the largest argument is large; the same at each run.

    Powers of two, primes and others; None where a call takes too long with all that are tried.
    """
    generator = torch.Generator().manual_seed(zlib.crc32(case.name.encode()))
    tried = list[tuple[int, dict[str, int]]]()
    for _ in range(60):
        drawn = torch.randint(len(_SIZES), (len(case.names),), generator=generator).tolist()
        sizes = {name: _SIZES[i] for name, i in zip(case.names, drawn, strict=True)}
        if (elements := _elements(case, sizes)) <= ELEMENTS:
            tried.append((elements, sizes))
    tried.sort(key=lambda each: -each[0])
    return next((sizes for _, sizes in tried[:8] if _is_short(case, sizes)), None)


def _elements(case: Case, sizes: Mapping[str, int]) -> int:
    """Of the largest argument."""
    leaves = pytree.tree_leaves((case.inputs, dict(case.kwargs)))
    return max(
        prod(resolved(size, sizes) for size in leaf.shape)
        for leaf in leaves
        if isinstance(leaf, Input)
    )


def _is_short(case: Case, sizes: Mapping[str, int]) -> bool:
    """Whether a call at these sizes is one that eager mode takes and that does not take long, judged by its shapes."""
    args, kwargs = case.arguments(sizes)
    mode = FakeTensorMode(
        allow_non_fake_inputs=True, shape_env=ShapeEnv(), static_shapes=True
    )  # sizes that elements decide are symbols, and no others
    counter = FlopCounterMode(display=False)
    try:
        with mode, counter, torch.no_grad():
            args, kwargs = pytree.tree_map_only(torch.Tensor, mode.from_tensor, (args, kwargs))
            results = case.model()(*args, **kwargs)
    except Exception:  # of the case, which asks for elements or takes other sizes
        return False
    finally:
        torch._dynamo.reset()  # torch.cond and its kin fail in eager mode after a call in modes
    tensors = [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]
    elements = sum(prod(s for s in x.shape if isinstance(s, int)) for x in tensors)
    return counter.get_total_flops() <= MOST_OPERATIONS and elements <= MOST_RESULTS
