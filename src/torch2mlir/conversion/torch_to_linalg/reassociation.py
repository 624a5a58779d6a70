"""How dimensions of a tensor regroup when it is reshaped; plain computation on sizes."""

from __future__ import annotations

from collections.abc import Sequence

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize

Group = tuple[range, range]
"""Consecutive source dimensions and the result dimensions that hold the same elements."""


def regroup(source: Sequence[KnownSize], result: Sequence[KnownSize]) -> list[Group]:
    """The finest split of both shapes into consecutive groups with equal products.

    Neither shape has a literal zero, both have at least one dimension. Products are compared as expressions: where
    equality does not show, dimensions stay in one group, which is always right.
    """
    before, after = _prefix_products(source), _prefix_products(result)
    groups, last = list[Group](), (0, 0)
    for i in range(1, len(source)):
        matches = (j for j in range(last[1] + 1, len(result)) if after[j] == before[i])
        j = next(matches, None)
        if j is not None:
            groups.append((range(last[0], i), range(last[1], j)))
            last = (i, j)
    groups.append((range(last[0], len(source)), range(last[1], len(result))))
    return groups


def _prefix_products(sizes: Sequence[KnownSize]) -> list[KnownSize]:
    products: list[KnownSize] = [1]
    for size in sizes:
        products.append(dims.mul(products[-1], size))
    return products
