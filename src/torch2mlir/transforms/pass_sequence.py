"""Passes that are made of others: the pipelines people name, and the ones that go in rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.contract.pass_order import run_in_order


class PassSequence(ModulePass):
    """A pass that is others, one after the other; tools run, print, time and verify them one by one."""

    @abstractmethod
    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        """The passes; each has run before the next one is asked for, as what comes may depend on it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_in_order(self.steps(op), ctx, op)
