"""Views of padded tensors: dimensions that are joined or split keep the real elements together, or it is refused."""

from __future__ import annotations

from xdsl.ir import Operation

from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.transforms.padding.facts import Padding, Sizes, refuse


def check_view(padding: Padding, op: Operation, old: Sizes, new: Sizes) -> None:
    """Refuses a view in which the real elements of the result are not those of the operand.

    Dimensions are taken together in the smallest groups of equal products. A padded one that is alone in its group, or
    the outermost on both sides of it, keeps its real elements in front.
    """
    for before, after in _groups(op, old, new):
        if not any(map(padding.is_padded, (*before, *after))):
            continue
        for group in (before, after):
            inner = [size for size in group if size != 1][1:]
            if any(map(padding.is_padded, inner)):
                shown = "x".join(str(size) for size in group)
                refuse(
                    op, f"it joins a dimension that is rounded up with one outside of it ({shown})"
                )


def _groups(op: Operation, old: Sizes, new: Sizes) -> list[tuple[Sizes, Sizes]]:
    """The dimensions of both shapes in groups of equal products."""
    found = list[tuple[Sizes, Sizes]]()
    ends = {product: index for index, product in enumerate(_products(new))}
    start, begun = 0, 0
    for index, product in enumerate(_products(old)):
        end = ends.get(product)
        if end is not None and end >= begun:
            found.append((old[start : index + 1], new[begun : end + 1]))
            start, begun = index + 1, end + 1
    rest = old[start:], new[begun:]
    if rest[0] or rest[1]:
        if dims.product(list(rest[0])) != dims.product(list(rest[1])):
            refuse(op, "its sizes do not follow from those of its operand")
        found.append(rest)
    return found


def _products(sizes: Sizes) -> list[KnownSize]:
    return [dims.product(list(sizes[: index + 1])) for index in range(len(sizes))]
