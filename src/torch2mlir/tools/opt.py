"""The opt driver: read MLIR, run passes, print MLIR. Takes the options of ``mlir-opt`` and of ``xdsl-opt``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from io import StringIO
from typing import IO, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from torch2mlir import transforms
from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import MlirParser
from torch2mlir.dialects.printer import MlirPrinter
from torch2mlir.errors import ParseError, PassError
from torch2mlir.tools.failure import guarded
from torch2mlir.tools.pipeline import parse_pipeline, suggestion

SUMMARY = "run passes on MLIR text"

MLIR_SPELLING = {
    "mlir-print-op-generic": "print-op-generic",
    "mlir-print-debuginfo": "print-debuginfo",
    "mlir-print-ir-after-all": "print-between-passes",
    "mlir-timing": "time-passes",
    "split-input-file": "split-input-file",
    "verify-diagnostics": "verify-diagnostics",
    "allow-unregistered-dialect": "allow-unregistered-dialect",
}
"""Options of mlir-opt by the name xdsl-opt gives them; mlir-opt writes them with one dash or two."""

WITHOUT_EFFECT = {"mlir-disable-threading", "verify-each"}
"""Options people's scripts pass to mlir-opt that ask for what is always so here."""


class OptMain(xDSLOptMain):
    """xDSL's driver with our dialects and passes, errors of our family, and whole output files."""

    version_format: ClassVar[str] = "torch2mlir-opt on xDSL {xdsl_version}"

    def register_all_dialects(self) -> None:
        """Ours, and those of xDSL under names we do not take."""
        self.ctx = make_context()
        taken = set(self.ctx.registered_dialect_names)
        for name, load in Universe.get_multiverse().all_dialects.items():
            if name not in taken:
                self.ctx.register_dialect(name, load)

    def register_all_frontends(self) -> None:
        """MLIR text, its resources read as weights."""

        def read(stream: IO[bytes]) -> ModuleOp:
            text = stream.read().decode("utf-8")
            parser = MlirParser(self.ctx, text, self.get_input_name())
            return parser.parse_module(not self.args.no_implicit_module)

        self.available_frontends["mlir"] = read

    def register_all_passes(self) -> None:
        """Ours first: where xDSL has a pass of the same name, the name means ours."""
        self.available_passes.update(all_passes())

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """xDSL's arguments, and help that lists our passes one by one."""
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "torch2mlir-opt"
        arg_parser.formatter_class = argparse.RawDescriptionHelpFormatter
        arg_parser.epilog = "\n  ".join(
            ["passes, also usable as --NAME[=OPTIONS]:", *transforms.PASSES]
        )
        for action in arg_parser._actions:
            if action.dest == "passes":
                action.help = "passes, NAME{OPTION=VALUE ...},..., with or without builtin.module()"

    def setup_pipeline(self) -> None:
        """Accept MLIR's pipeline syntax and say which pass name or option is wrong."""
        specs = parse_pipeline(self.args.passes)
        for spec in specs:
            if spec.name not in self.available_passes:
                raise PassError(
                    f"there is no pass {spec.name}",
                    hint=suggestion(spec.name, self.available_passes),
                )
        self.args.passes = ",".join(map(str, specs))
        try:
            super().setup_pipeline()
        except ValueError as error:
            raise PassError(str(error), op=self.args.passes) from error

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """The input; whatever a file is called, it is MLIR text."""
        stream, _ = super().get_input_stream()
        return stream, "mlir"

    def prepare_output(self) -> IO[str]:
        """Standard output, or a file aside that :meth:`run` moves into place at the end."""
        if self.args.output_file in (None, "-"):
            return sys.stdout
        folder = os.path.dirname(os.path.abspath(self.args.output_file))
        descriptor, self._aside = tempfile.mkstemp(prefix=".torch2mlir-", dir=folder, text=True)
        return os.fdopen(descriptor, "w", encoding="utf-8")

    def run(self) -> None:
        """Read, transform and print; the output file is complete or not there.

        Raises:
            ParseError: the input is not MLIR that we can read.
            PassError: a pass failed, or the module does not verify.
        """
        self._aside = ""
        try:
            super().run()
            if self._aside:
                os.chmod(self._aside, 0o644)
                os.replace(self._aside, self.args.output_file)
        except (XdslParseError, UnicodeDecodeError) as error:
            raise ParseError(f"{self.get_input_name()} is not valid MLIR: {error}") from error
        except DiagnosticException as error:
            raise PassError(f"{self.get_input_name()}: {error}") from error
        finally:
            if self._aside and os.path.exists(self._aside):
                os.unlink(self._aside)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The module as text, with its weights."""
        if self.args.target != "mlir" or self.args.syntax_highlight:
            return super().output_resulting_program(prog)
        text = StringIO()
        printer = MlirPrinter(
            stream=text,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
        )
        printer.print_op(prog)
        printer.print_metadata(self.ctx.loaded_dialects)
        return text.getvalue() + "\n"


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass the driver can run, by its pipeline name."""
    return {**Universe.get_multiverse().all_passes, **transforms.PASSES}


def translated(arguments: Sequence[str], passes: Container[str]) -> list[str]:
    """Arguments in mlir-opt's style as xdsl-opt's: ``--some-pass=x=1`` becomes part of ``--passes``."""
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
            yield f"--{MLIR_SPELLING[name]}"
        elif name not in WITHOUT_EFFECT:
            yield argument


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; the exit code is 0, 1 for a failure, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    show_traceback = "--traceback" in arguments
    arguments = [argument for argument in arguments if argument != "--traceback"]

    def drive() -> int:
        OptMain("Read MLIR, run passes, print MLIR.", translated(arguments, all_passes())).run()
        return 0

    return guarded(drive, show_traceback)


if __name__ == "__main__":
    sys.exit(main())
