"""``torch.shape.calculate`` and ``torch.dtype.calculate``: types that a program calculates beside its values.

Torch-MLIR puts such calculations around ops (it *reifies* them) and simplifies them until they are constants. Programs
from there are read and simplified here too; programs from here have none, since PyTorch's meta kernels give the types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from torch2mlir.dialects.placing import place_before
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim
from torch2mlir.dialects.torch.object_graph import CalculateOp
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.transforms.canonicalize import canonicalize
from torch2mlir.transforms.folding.constants import put_in_place, retype
from torch2mlir.transforms.typing.type_lattice import as_class, meet

Describe = Callable[[Any], t.AnyTensorType | None]
"""What a calculated value says of a tensor; None if nothing."""


def sizes_of(calculated: Any) -> t.AnyTensorType | None:
    """The tensor type with a calculated list of sizes; what is not known of them stays open."""
    if not isinstance(calculated, list):
        return None
    sizes = tuple(size if isinstance(size, int | Dim) else None for size in calculated)
    return t.vtensor(sizes, None)


def simplify_calculations(module: ModuleOp, kind: type[CalculateOp], describe: Describe) -> None:
    """Folds the program and gives values the types that calculations of one kind have come to."""
    for function in module.walk():
        if isinstance(function, FuncOp):
            for block in function.body.blocks:
                canonicalize(block)
    for op in list(module.walk()):
        if isinstance(op, kind):
            _refine(op, describe)


def _refine(op: CalculateOp, describe: Describe) -> None:
    values = Values()
    body, calculation = (region.block.last_op for region in op.regions)
    if body is None or calculation is None:
        return
    for index, result in enumerate(op.results):
        calculated = values.of(calculation.operands[index])
        said = None if isinstance(calculated, Unknown) else describe(calculated)
        inner = body.operands[index]
        if said is None or not isinstance(inner.type, t.AnyTensorType):
            continue
        refined = meet(inner.type, as_class(said, inner.type))  # type: ignore[arg-type]
        if refined == result.type:
            continue
        if isinstance(inner.owner, Operation):
            retype(inner, refined)
            retype(result, refined)


def drop_calculations(module: ModuleOp) -> None:
    """Leaves the bodies in the place of the calculations around them."""
    for op in list(module.walk()):
        if not isinstance(op, CalculateOp):
            continue
        block = op.regions[0].block
        end = block.last_op
        if end is None:
            continue
        for result, value in zip(op.results, list(end.operands), strict=True):
            put_in_place(result, value)
        for inner in list(block.ops):
            inner.detach()
            if inner is end:
                inner.erase()
            else:
                place_before(op, inner)
        op.detach()
        op.erase()
