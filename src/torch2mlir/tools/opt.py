"""The opt driver: reads MLIR, runs passes, writes text or bytecode. Options of ``mlir-opt`` and ``xdsl-opt`` work."""

from __future__ import annotations

import argparse
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from torch2mlir import transforms
from torch2mlir.dialects import make_context
from torch2mlir.dialects.bytecode import MAGIC, bytecode_pieces
from torch2mlir.dialects.printer import MlirPrinter
from torch2mlir.errors import InputError
from torch2mlir.files import write_whole
from torch2mlir.tools.diagnostics import Diagnostic, from_exception
from torch2mlir.tools.expected import expectations, unmet
from torch2mlir.tools.failure import guarded, show_tracebacks, tracebacks
from torch2mlir.tools.ir_printing import IrPrinting
from torch2mlir.tools.ir_printing import add_arguments as add_printing_arguments
from torch2mlir.tools.pipeline import make_pipeline
from torch2mlir.tools.plugins import Plugins
from torch2mlir.tools.reading import read_located
from torch2mlir.tools.running import PassRunner
from torch2mlir.tools.verification import violations

Result = TypeVar("Result")

SUMMARY = "run passes on MLIR text"

MLIR_SPELLING = {
    "mlir-print-op-generic": "print-op-generic",
    "mlir-print-debuginfo": "print-debuginfo",
    "mlir-print-ir-before-all": "print-ir-before-all",
    "mlir-print-ir-after-all": "print-ir-after-all",
    "mlir-print-ir-after-change": "print-ir-after-change",
    "mlir-print-ir-after-failure": "print-ir-after-failure",
    "mlir-print-ir-before": "print-ir-before",
    "mlir-print-ir-after": "print-ir-after",
    "mlir-elide-elementsattrs-if-larger": "elide-elementsattrs-if-larger",
    "mlir-elide-resource-strings-if-larger": "elide-elementsattrs-if-larger",
    "mlir-timing": "time-passes",
    "split-input-file": "split-input-file",
    "verify-diagnostics": "verify-diagnostics",
    "allow-unregistered-dialect": "allow-unregistered-dialect",
    "dump-pass-pipeline": "dump-pass-pipeline",
    "show-dialects": "show-dialects",
    "emit-bytecode": "emit-bytecode",
    "print-between-passes": "print-ir-after-all",
}
"""Options of mlir-opt (and of xdsl-opt) by our own name; mlir-opt writes them with one dash or two."""

WITHOUT_EFFECT = {
    "mlir-disable-threading",
    "mlir-print-ir-module-scope",
    "mlir-print-local-scope",
    "verify-each",
}
"""Options people's scripts pass to mlir-opt that ask for what is always so here."""

SPLIT = re.compile(r"^// -----[ \t]*\n", re.MULTILINE)
"""What separates the parts of a file for ``--split-input-file``."""


class OptMain(xDSLOptMain):
    """xDSL's driver with our dialects and passes, MLIR's diagnostics, and whole output files."""

    version_format: ClassVar[str] = "torch2mlir-opt on xDSL {xdsl_version}"

    def __init__(self, arguments: Sequence[str], plugins: Plugins) -> None:
        self.plugins = plugins
        self.sources: dict[str, str] = {}
        self.failed = False
        super().__init__("Read MLIR, run passes, print MLIR.", arguments)

    def register_all_dialects(self) -> None:
        """Ours, the user's, and those of xDSL under names neither takes."""
        self.ctx = make_context()
        everything = {**Universe.get_multiverse().all_dialects, **self.plugins.dialects}
        for name, load in everything.items():
            if name not in self.ctx.registered_dialect_names:
                self.ctx.register_dialect(name, load)

    def register_all_frontends(self) -> None:
        """MLIR text is the only one; :meth:`run` reads it."""
        self.available_frontends["mlir"] = lambda stream: self._read(stream.read().decode(), 1)

    def register_all_passes(self) -> None:
        """Ours before xDSL's, the user's before ours, where they have one name."""
        self.available_passes.update(all_passes(self.plugins))

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """xDSL's arguments, mlir-opt's, and help that lists our passes one by one."""
        super().register_all_arguments(arg_parser)
        add_printing_arguments(arg_parser)
        arg_parser.add_argument(
            "--load",
            action="append",
            metavar="FILE",
            help="a Python file with passes, dialects and lowerings of your own",
        )
        arg_parser.add_argument(
            "--elide-elementsattrs-if-larger",
            type=int,
            metavar="N",
            help="print constants of more than N elements as dense_resource<__elided__>",
        )
        arg_parser.add_argument(
            "--emit-bytecode", action="store_true", help="write MLIR bytecode instead of text"
        )
        arg_parser.add_argument(
            "--dump-pass-pipeline", action="store_true", help="print the pipeline to be run"
        )
        arg_parser.add_argument(
            "--show-dialects", action="store_true", help="list the dialects and stop"
        )
        arg_parser.prog = "torch2mlir-opt"
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        arg_parser.epilog = "\n  ".join(
            ["passes, also usable as --NAME[=OPTIONS]:", *transforms.PASSES, *self.plugins.passes]
        )
        helps = {
            "passes": "passes, NAME{OPTION=VALUE ...},..., with or without builtin.module()",
            "verify_diagnostics": "check that the errors are those the input announces in comments",
        }
        for action in arg_parser._actions:
            action.help = helps.get(action.dest, action.help)

    def setup_pipeline(self) -> None:
        """The passes asked for, in MLIR's pipeline syntax."""
        self.pipeline = make_pipeline(self.args.passes, self.available_passes)
        self.printing = IrPrinting(self.args, self.text)

    def get_input_name(self) -> str:
        """The file as messages call it."""
        return self.args.input_file or "<stdin>"

    def run(self) -> None:
        """Read, transform and print; sets :attr:`failed` when a diagnostic says why not.

        An output file is complete or not written.
        """
        if self.args.show_dialects:
            names = sorted(self.ctx.registered_dialect_names)
            print("Available Dialects: " + ",".join(names))
            return
        if self.args.dump_pass_pipeline:
            specs = ",".join(str(step.spec()) for step in self.pipeline.passes)
            print(f"Pass Manager with {len(self.pipeline.passes)} passes:", file=sys.stderr)
            print(f"builtin.module({specs})", file=sys.stderr)
        if self.args.emit_bytecode and self.args.split_input_file:
            raise InputError(
                "bytecode is of one module, --split-input-file is for several",
                hint="leave one of them out",
            )
        printed = [made for part, line in self._parts() if (made := self._one(part, line))]
        self.printing.report_times()
        if not self.failed or self.args.output_file in (None, "-"):
            self._write(b"// -----\n".join(printed))

    def _parts(self) -> list[tuple[str, int]]:
        """The modules of the input, each with the number of its first line."""
        given = self._input()
        try:
            if given.startswith(MAGIC):
                raise InputError(
                    "this is MLIR bytecode; what is read here is text, which mlir-opt makes of it"
                )
            whole = given.decode("utf-8")
        except (UnicodeDecodeError, InputError) as error:
            self._report([from_exception(error, self.get_input_name())])
            return []
        self.sources[self.get_input_name()] = whole
        if not self.args.split_input_file:
            return [(whole, 1)]
        parts, line = list[tuple[str, int]](), 1
        for part in SPLIT.split(whole):
            parts.append((part, line))
            line += part.count("\n") + 1
        return parts

    def _input(self) -> bytes:
        if self.args.input_file is not None:
            return Path(self.args.input_file).read_bytes()
        binary = getattr(sys.stdin, "buffer", None)  # a StringIO that stands in has none
        return sys.stdin.read().encode() if binary is None else binary.read()

    def _one(self, part: str, first_line: int) -> bytes:
        """One module from text to text, or to bytecode; empty when it failed."""
        produced = list[Diagnostic]()
        made: bytes | None = None
        module = self._step(produced, "", lambda: self._read(part, first_line))
        if (
            module is not None
            and self._verified(module, produced)
            and self._passed(module, produced)
        ):
            made = self._step(produced, "printing: ", lambda: self._made(module))
        if self.args.verify_diagnostics:
            announced = expectations(part, first_line)
            produced = unmet(announced, produced, self.get_input_name())
        self._report(produced)
        return made or b""

    def _made(self, module: ModuleOp) -> bytes:
        if self.args.emit_bytecode:
            return b"".join(bytecode_pieces(module, debuginfo=self.args.print_debuginfo))
        return self.output_resulting_program(module).encode()

    def _read(self, part: str, first_line: int) -> ModuleOp:
        padded = "\n" * (first_line - 1) + part  # so that lines are counted in the file
        implicit = not self.args.no_implicit_module
        return read_located(self.ctx, padded, self.get_input_name(), implicit)

    def _passed(self, module: ModuleOp, produced: list[Diagnostic]) -> bool:
        """Whether all passes ran and left a module that verifies."""
        runner = PassRunner(
            self.ctx,
            self.get_input_name(),
            self.sources,
            self.printing,
            verify=not self.args.disable_verify,
        )
        failure = runner.run(self.pipeline.passes, module)
        if failure is not None:
            produced += failure.diagnostics
        return failure is None

    def _verified(self, module: ModuleOp, produced: list[Diagnostic]) -> bool:
        if not self.args.disable_verify:
            produced += violations(module, self.get_input_name())
        return not produced

    def _step(
        self, produced: list[Diagnostic], during: str, work: Callable[[], Result]
    ) -> Result | None:
        """What ``work`` returns; None and a diagnostic when it fails."""
        try:
            return work()
        except ShrinkException:
            raise
        except Exception as error:
            if show_tracebacks():
                traceback.print_exc()
            produced.append(from_exception(error, self.get_input_name(), during, self.sources))
            return None

    def _report(self, diagnostics: Sequence[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self.failed = True
            print(diagnostic.text(self.sources), file=sys.stderr)

    def _write(self, made: bytes) -> None:
        if self.args.output_file not in (None, "-"):
            write_whole(Path(self.args.output_file), lambda stream: stream.write(made))
            return
        if self.args.emit_bytecode:
            sys.stdout.buffer.write(made)
        else:
            sys.stdout.write(made.decode())
        sys.stdout.flush()

    def text(self, module: ModuleOp) -> str:
        """A module as MLIR, as the options ask for it."""
        stream = StringIO()
        printer = MlirPrinter(
            stream=stream,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
            elide_above=self.args.elide_elementsattrs_if_larger,
        )
        printer.print_op(module)
        printer.print_metadata(self.ctx.loaded_dialects)
        return stream.getvalue() + "\n"

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The module as text, with its weights; other targets are xDSL's."""
        if self.args.target != "mlir" or self.args.syntax_highlight:
            return super().output_resulting_program(prog)
        return self.text(prog)


def all_passes(plugins: Plugins | None = None) -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass the driver can run, by its pipeline name."""
    own = plugins.passes if plugins else {}
    return {**Universe.get_multiverse().all_passes, **transforms.PASSES, **own}


def translated(arguments: Sequence[str], passes: Container[str]) -> list[str]:
    """Arguments in mlir-opt's style as ours: ``--some-pass=x=1`` becomes part of ``--passes``."""
    pipeline: list[str] = []
    kept = list(_translate(arguments, passes, pipeline))
    return [*kept, "--passes", ",".join(pipeline)] if pipeline else kept


def _translate(
    arguments: Sequence[str], passes: Container[str], pipeline: list[str]
) -> Iterator[str]:
    remaining = iter(arguments)
    for argument in remaining:
        name, _, value = argument.lstrip("-").partition("=")
        if argument == "-":
            continue  # standard input, which is the default
        elif not argument.startswith("-"):
            yield argument
        elif name in ("p", "passes", "pass-pipeline"):
            pipeline.append(value or next(remaining, ""))
        elif name in passes:
            pipeline.append(f"{name}{{{value}}}" if value else name)
        elif name in MLIR_SPELLING:
            yield f"--{MLIR_SPELLING[name]}" + (f"={value}" if value else "")
        elif name in (
            "o",
            "t",
            "f",
            "load",
        ):  # their values are no options, whatever they are called
            yield argument
            if not value and (following := next(remaining, None)) is not None:
                yield following
        elif name not in WITHOUT_EFFECT:
            yield argument


def loaded(arguments: Sequence[str]) -> Plugins:
    """What the ``--load`` options bring; read first, as the names of passes are options too."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--load", action="append", default=[])
    plugins = Plugins()
    for where in parser.parse_known_args(
        [a.replace("-load", "--load", 1) if a.startswith("-load") else a for a in arguments]
    )[0].load:
        plugins.load(where)
    return plugins


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; the exit code is 0, 1 for a failure, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    show_traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]

    def drive() -> int:
        plugins = loaded(arguments)
        driver = OptMain(translated(arguments, all_passes(plugins)), plugins)
        driver.run()
        return int(driver.failed)

    with tracebacks(show_traceback):
        return guarded(drive)


if __name__ == "__main__":
    sys.exit(main())
