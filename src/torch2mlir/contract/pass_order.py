"""Passes one after the other; those that look for ops which a module does not have are left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from torch2mlir.dialects.placing import ops_in


class PassForOps(ModulePass):
    """A pass that does nothing to a module without certain ops.

    Attributes:
        looks_for: the names of the ops, at least one of which there has to be.
    """

    looks_for: ClassVar[frozenset[str]]


def run_in_order(passes: Iterable[ModulePass], context: Context, module: ModuleOp) -> None:
    """Runs passes over a module in place; each has run before the next one is asked for."""
    present: set[str] | None = None
    for each in passes:
        if isinstance(each, PassForOps):
            present = op_names(module) if present is None else present
            if present.isdisjoint(each.looks_for):
                continue
        each.apply(context, module)
        present = None


def op_names(module: ModuleOp | Block) -> set[str]:
    """The names of the ops in a module, or a block."""
    if isinstance(module, Block):
        return {inner.name for op in module.ops for inner in ops_in(op)}
    return {op.name for op in ops_in(module)}
