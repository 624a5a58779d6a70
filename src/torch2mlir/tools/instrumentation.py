"""Looking at the passes of every pipeline: verification, dumps, times, reproducers, from Python or by the environment.

    with torch2mlir.instrumented(verify=True, timing=True, dump_to="passes"):
        torch2mlir.compile(model, x)

``TORCH2MLIR_INSTRUMENT=verify,timing,print-ir,dump-to=DIR,reproducer=DIR`` does so for a whole process.
"""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.dialects import make_context
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import PassError
from torch2mlir.pipeline import watched
from torch2mlir.tools.ir_printing import FLAGS, NAMED, IrPrinting
from torch2mlir.tools.running import Failure, PassRunner

VARIABLE = "TORCH2MLIR_INSTRUMENT"


@dataclass
class Instrumentation:
    """Runs passes and looks at what they do.

    Attributes:
        verify: verify the module after every pass.
        print_ir: print the module after every pass, to standard error.
        timing: print a table of seconds per pass to standard error when the context ends, or the process.
        dump_to: a folder for the module after every pass, ``000-name.mlir`` and so on.
        reproducer: a folder for the module that a pass failed on; the error tells the command that replays it.
        seconds: time spent so far, by pass.
    """

    verify: bool = False
    print_ir: bool = False
    timing: bool = False
    dump_to: Path | None = None
    reproducer: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)

    def __call__(self, steps: Sequence[ModulePass], module: ModuleOp) -> None:
        """Runs passes over a module, in place.

        Raises:
            Torch2MLIRError: what the pass raised.
            PassError: a pass left a module that does not verify.
        """
        before = None if self.reproducer is None else module.clone()
        watch = _Watch(self)
        runner = PassRunner(make_context(), "module", printing=watch, verify=self.verify)
        failure = runner.run(steps, module)
        if failure is None:
            return
        told = None if before is None else self._reproduced(before, runner.ran, failure)
        error = failure.cause or _invalid(failure)
        if told is not None:
            error.add_note(told)
        raise error

    def _reproduced(self, before: ModuleOp, ran: Sequence[ModulePass], failure: Failure) -> str:
        """Writes what the failing pass was given; how to replay it."""
        for step in ran:
            step.apply(make_context(), before)
        folder = self.reproducer or Path()
        folder.mkdir(parents=True, exist_ok=True)
        name = failure.step.name if failure.step is not None else "pipeline"
        path = folder / f"{name}.mlir"
        path.write_text(module_text(before), encoding="utf-8")
        pipeline = f"builtin.module({failure.step.spec() if failure.step is not None else ''})"
        command = f"torch2mlir-opt -pass-pipeline={shlex.quote(pipeline)} {shlex.quote(str(path))}"
        return f"it can be reproduced with: {command}"

    def dumped(self, step: ModulePass, module: ModuleOp) -> None:
        """Writes the module after a pass, if asked to."""
        if self.dump_to is None:
            return
        self.dump_to.mkdir(parents=True, exist_ok=True)
        path = self.dump_to / f"{self._count:03}-{step.name}.mlir"
        path.write_text(module_text(module), encoding="utf-8")
        self._count += 1

    def report(self) -> None:
        """Prints the seconds per pass, if asked to and if a pass has run."""
        if not self.timing or not self.seconds:
            return
        table = Table("pass", "seconds", "share", box=None, pad_edge=False)
        total = sum(self.seconds.values()) or 1.0
        for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1]):
            table.add_row(name, f"{seconds:.3f}", f"{seconds / total:.0%}")
        Console(file=sys.stderr, highlight=False).print(table)


class _Watch(IrPrinting):
    """Tells an instrumentation of every pass."""

    def __init__(self, instrumentation: Instrumentation) -> None:
        options = {name.replace("-", "_"): False for name in FLAGS}
        options["print_ir_after_all"] = instrumentation.print_ir
        named: dict[str, list[str]] = {name.replace("-", "_"): [] for name in NAMED}
        super().__init__(Namespace(**options, **named), module_text)
        self._instrumentation = instrumentation

    def after(self, step: ModulePass, module: ModuleOp, failed: bool) -> None:
        before = sum(self.seconds.values())
        super().after(step, module, failed)
        if elapsed := sum(self.seconds.values()) - before:
            seconds = self._instrumentation.seconds
            seconds[step.name] = seconds.get(step.name, 0.0) + elapsed
            if not failed:
                self._instrumentation.dumped(step, module)


def _invalid(failure: Failure) -> PassError:
    first = failure.diagnostics[0]
    name = failure.step.name if failure.step is not None else "a pass"
    return PassError(
        f"{name} left a module that does not verify: {first.message}",
        location=str(first.place),
        hint="this is a bug of the pass: send the reproducer with a report",
    )


@contextmanager
def instrumented(
    *,
    verify: bool = False,
    print_ir: bool = False,
    timing: bool = False,
    dump_to: str | os.PathLike[str] | None = None,
    reproducer: str | os.PathLike[str] | None = None,
) -> Iterator[Instrumentation]:
    """While this lasts, the passes of this thread's captures are looked at; see :class:`Instrumentation`."""
    instrumentation = Instrumentation(
        verify,
        print_ir,
        timing,
        None if dump_to is None else Path(dump_to),
        None if reproducer is None else Path(reproducer),
    )
    with watched(instrumentation):
        try:
            yield instrumentation
        finally:
            instrumentation.report()


@lru_cache(maxsize=1)
def from_environment(value: str) -> Instrumentation:
    """What the environment variable asks for.

    Raises:
        PassError: it asks for something that there is not.
    """
    import atexit

    asked = Instrumentation()
    for item in filter(None, map(str.strip, value.split(","))):
        name, _, path = item.partition("=")
        if name in ("verify", "print-ir", "timing") and not path:
            setattr(asked, name.replace("-", "_"), True)
        elif name in ("dump-to", "reproducer") and path:
            setattr(asked, name.replace("-", "_"), Path(path))
        else:
            raise PassError(
                f"{VARIABLE} asks for '{item}'",
                hint="it takes verify, print-ir, timing, dump-to=DIR and reproducer=DIR, with commas between",
            )
    atexit.register(asked.report)
    return asked
