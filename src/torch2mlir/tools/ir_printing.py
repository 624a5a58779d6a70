"""Printing the module between passes, as mlir-opt's ``--mlir-print-ir-*`` options ask for it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.transforms.pass_sequence import PassSequence

FLAGS = {
    "print-ir-before-all": "print the IR before each pass",
    "print-ir-after-all": "print the IR after each pass",
    "print-ir-after-change": "print the IR after each pass that changed it",
    "print-ir-after-failure": "print the IR after a pass that failed",
}
NAMED = {
    "print-ir-before": "print the IR before these passes",
    "print-ir-after": "print the IR after these passes",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options, without the prefix ``mlir-``."""
    for name, help in FLAGS.items():
        parser.add_argument(f"--{name}", action="store_true", help=help)
    for name, help in NAMED.items():
        parser.add_argument(f"--{name}", action="append", default=[], metavar="PASS", help=help)


@dataclass
class IrPrinting:
    """Told of every pass; writes to standard error what the options ask for.

    Args:
        options: the parsed options of :func:`add_arguments`, and ``time_passes``.
        text: writes a module.
    """

    options: argparse.Namespace
    text: Callable[[ModuleOp], str]
    seconds: dict[str, float] = field(default_factory=dict, init=False)
    _last: str = field(default="", init=False)
    _started: float = field(default=0.0, init=False)

    def before(self, step: ModulePass, module: ModuleOp) -> None:
        """A pass is about to run; a pipeline, before the first of its passes."""
        if isinstance(step, PassSequence):
            if step.name in _names(self.options.print_ir_before):
                self._dump("Before", step, module)
            return
        if self.options.print_ir_after_change:
            self._last = self.text(module)
        if self.options.print_ir_before_all or step.name in _names(self.options.print_ir_before):
            self._dump("Before", step, module)
        self._started = time.perf_counter()

    def after(self, step: ModulePass, module: ModuleOp, failed: bool) -> None:
        """A pass has run, or failed half-way; a pipeline, after the last of its passes."""
        if isinstance(step, PassSequence):
            if not failed and step.name in _names(self.options.print_ir_after):
                self._dump("After", step, module)
            return
        elapsed = time.perf_counter() - self._started
        self.seconds[step.name] = self.seconds.get(step.name, 0.0) + elapsed
        options = self.options
        changed = options.print_ir_after_change and self.text(module) != self._last
        if failed:
            if options.print_ir_after_failure or options.print_ir_after_all:
                self._dump("After", step, module, " Failed")
        elif (
            options.print_ir_after_all
            or changed
            or step.name in _names(self.options.print_ir_after)
        ):
            self._dump("After", step, module)

    def report_times(self) -> None:
        """The time each pass has taken, if asked for."""
        if self.options.time_passes:
            for name, seconds in self.seconds.items():
                print(f"{seconds:10.4f} s  {name}", file=sys.stderr)

    def _dump(self, when: str, step: ModulePass, module: ModuleOp, how: str = "") -> None:
        title = type(step).__name__.removesuffix("Pass")
        print(f"// -----// IR Dump {when} {title}{how} ({step.name}) //----- //", file=sys.stderr)
        print(self.text(module), file=sys.stderr)


def _names(given: list[str]) -> set[str]:
    return {name for names in given for name in names.split(",")}
