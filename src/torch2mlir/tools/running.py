"""Running passes over a module one by one, also those inside pipelines, with diagnostics of what fails."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ShrinkException

from torch2mlir.tools.diagnostics import Diagnostic, from_exception
from torch2mlir.tools.failure import show_tracebacks
from torch2mlir.tools.ir_printing import IrPrinting
from torch2mlir.tools.verification import violations
from torch2mlir.transforms.pass_sequence import PassSequence


@dataclass(frozen=True)
class Failure:
    """Why passes did not come to their end.

    Attributes:
        diagnostics: what a user is told.
        cause: the exception; None for a module that does not verify.
        step: the pass it was, the innermost one; None if no pass had begun.
    """

    diagnostics: list[Diagnostic]
    cause: Exception | None = None
    step: ModulePass | None = None


@dataclass
class PassRunner:
    """Runs passes until one fails.

    Args:
        context: the dialects the passes may use.
        name: what messages call the module.
        sources: texts by name, for the places of messages.
        printing: told of every pass.
        verify: verify after every pass.
    """

    context: Context
    name: str
    sources: Mapping[str, str] = field(default_factory=dict)
    printing: IrPrinting | None = None
    verify: bool = True
    ran: list[ModulePass] = field(default_factory=list, init=False)
    """The passes that have come to their end, those of pipelines in the place of these."""

    def run(self, steps: Iterable[ModulePass], module: ModuleOp) -> Failure | None:
        """Runs the passes over a module in place; what failed, or None."""
        return self._all(iter(steps), module, None)

    def _all(
        self, steps: Iterator[ModulePass], module: ModuleOp, around: ModulePass | None
    ) -> Failure | None:
        while True:
            try:
                step = next(steps, None)
            except Exception as error:  # a pipeline refuses its options, or the module
                return self._failure(error, around)
            if step is None:
                return None
            if self.printing is not None:
                self.printing.before(step, module)
            if isinstance(step, PassSequence):
                failure = self._all(step.steps(module), module, step)
            else:
                failure = self._one(step, module)
            if self.printing is not None:
                self.printing.after(step, module, failed=failure is not None)
            if failure is not None:
                return failure

    def _one(self, step: ModulePass, module: ModuleOp) -> Failure | None:
        try:
            step.apply(self.context, module)
        except ShrinkException:
            raise
        except Exception as error:
            return self._failure(error, step)
        if self.verify and (wrong := violations(module, self.name)):
            return Failure(wrong, step=step)
        self.ran.append(step)
        return None

    def _failure(self, error: Exception, step: ModulePass | None) -> Failure:
        if show_tracebacks():
            traceback.print_exception(error)
        during = "" if step is None else f"{step.name} failed: "
        return Failure([from_exception(error, self.name, during, self.sources)], error, step)
