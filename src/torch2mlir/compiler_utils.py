"""Running pass pipelines from Python, by the names of ``torch_mlir.compiler_utils``."""

from __future__ import annotations

import enum
import re
import shlex
import tempfile
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import module_text
from torch2mlir.errors import PassError, Torch2MLIRError
from torch2mlir.tools.ir_printing import FLAGS, NAMED, IrPrinting
from torch2mlir.tools.pipeline import make_pipeline
from torch2mlir.tools.reduction import elided_text, reduced
from torch2mlir.tools.running import Failure, PassRunner
from torch2mlir.tools.verification import violations
from torch2mlir.transforms import PASSES

if TYPE_CHECKING:
    from torch2mlir.module import MlirModule

__all__ = [
    "BackendLoweringOptions",
    "OutputType",
    "TorchMlirCompilerError",
    "lower_mlir_module",
    "run_pipeline_with_repro_report",
]


class OutputType(enum.Enum):
    """The dialect of the result; ``torch_mlir``'s names, the values are ``output_type`` strings."""

    RAW = "raw"
    TORCH = "torch"
    LINALG_ON_TENSORS = "linalg-on-tensors"
    TOSA = "tosa"
    STABLEHLO = "stablehlo"
    MHLO = "mhlo"

    @staticmethod
    def get(spec: str | OutputType) -> OutputType:
        """An output type by itself or by its name, in any case, with dashes or underscores.

        Raises:
            Torch2MLIRError: there is none of this name.
        """
        if isinstance(spec, OutputType):
            return spec
        try:
            return OutputType[spec.upper().replace("-", "_")]
        except KeyError:
            names = ", ".join(each.value for each in OutputType)
            raise Torch2MLIRError(
                f"unknown output type '{spec}'", hint=f"use one of {names}"
            ) from None


@dataclass
class BackendLoweringOptions:
    """Options of the pipelines to the dialects.

    Attributes:
        allow_non_finites: handed to the pipelines; what ops mean does not depend on it.
    """

    allow_non_finites: bool = True


class TorchMlirCompilerError(PassError):
    """A pipeline failed; the name is the one that users of ``torch_mlir`` catch.

    Attributes:
        diagnostics: what failed, as ``torch2mlir-opt`` prints it.
        reproducer: a file with the least of the module that fails in the same way.
        command: what replays the failure.
    """

    def __init__(
        self, description: str, diagnostics: list[str], reproducer: Path, command: str
    ) -> None:
        self.diagnostics = diagnostics
        self.reproducer = reproducer
        self.command = command
        told = "\n".join(diagnostics)
        super().__init__(
            f"{description} failed with the following diagnostics:\n{told}\n\n"
            f"It can be reproduced with:\n$ {command}\n"
            "Add '-mlir-print-ir-after-all' to see the IR after each pass."
        )


def run_pipeline_with_repro_report(
    module: ModuleOp | MlirModule,
    pipeline: str,
    description: str,
    enable_ir_printing: bool = False,
) -> None:
    """Runs a pipeline over a module, in place.

    Args:
        module: an xDSL module, or what ``export_and_import`` returns.
        pipeline: in MLIR's syntax, ``builtin.module(pass-one,func.func(pass-two{option=1}))``.
        description: what is being done, for the message of a failure.
        enable_ir_printing: print the IR after each pass to standard error.

    Raises:
        PassError: the pipeline names no such pass, or is malformed.
        TorchMlirCompilerError: a pass failed or left a module that does not verify; a reproducer has been written.
    """
    operation = module if isinstance(module, ModuleOp) else module.operation
    steps = make_pipeline(pipeline, PASSES).passes
    before = operation.clone()
    runner = _runner(operation, _printing(enable_ir_printing))
    failure = _run(runner, steps, operation)
    if failure is None:
        if not isinstance(module, ModuleOp):
            _follow(module, steps)
        return
    stages = [_Stage(before, steps, pipeline)]
    if failure.step is not None:
        stages.insert(0, _last_stage(before, runner.ran, failure.step))
    raise _report(stages, failure, description) from failure.cause


Steps = Sequence[ModulePass]


@dataclass(frozen=True)
class _Stage:
    """A module, and passes that fail on it."""

    module: ModuleOp
    steps: Steps
    pipeline: str

    def fails_as(self, failure: Failure) -> Callable[[ModuleOp], bool]:
        """Whether the same thing fails in another module."""

        def fails(candidate: ModuleOp) -> bool:
            other = _run(_runner(candidate), self.steps, candidate)
            return other is not None and _kind(other) == _kind(failure)

        return fails


def _last_stage(before: ModuleOp, ran: Steps, step: ModulePass) -> _Stage:
    """The pass that failed, and what the ones before it had made of the module."""
    module, context = before.clone(), make_context()
    for each in ran:
        each.apply(context, module)
    return _Stage(module, (step,), f"builtin.module({step.spec()})")


def _kind(failure: Failure) -> tuple[type, str]:
    first = failure.diagnostics[0].message.partition("\n")[0]
    return type(failure.cause), re.sub(r"\d+|%\w+", "", first)


def _runner(module: ModuleOp, printing: IrPrinting | None = None) -> PassRunner:
    return PassRunner(make_context(), _name_of(module), printing=printing)


def _run(runner: PassRunner, steps: Steps, module: ModuleOp) -> Failure | None:
    """Verifies a module and runs passes over it; what failed, or None."""
    if wrong := violations(module, runner.name):
        return Failure(wrong)
    return runner.run(steps, module)


def _printing(enabled: bool) -> IrPrinting | None:
    if not enabled:
        return None
    flags = {name.replace("-", "_"): False for name in FLAGS}
    named: dict[str, Any] = {name.replace("-", "_"): [] for name in NAMED}
    options = Namespace(**{**flags, **named, "print_ir_after_all": True})
    return IrPrinting(options, module_text)


def _report(stages: Sequence[_Stage], failure: Failure, description: str) -> TorchMlirCompilerError:
    """Writes the reproducer: of the first stage that fails by its text alone, the last one in any case."""
    suspects = [d.message + " ".join(d.notes) for d in failure.diagnostics]
    for stage in stages:
        fails = stage.fails_as(failure)
        text = elided_text(reduced(stage.module, fails, suspects), fails)
        if stage is stages[-1] or fails(parse_module(text)):
            break
    name = _name_of(stage.module)
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"{name}-", suffix=".mlir", delete=False, encoding="utf-8"
    ) as stream:
        stream.write(text)
    quoted = shlex.quote(stage.pipeline)
    quoted = quoted if quoted.startswith("'") else f"'{quoted}'"
    command = f"torch2mlir-opt -pass-pipeline={quoted} {shlex.quote(stream.name)}"
    texts = [diagnostic.text({}) for diagnostic in failure.diagnostics]
    return TorchMlirCompilerError(
        description or f"compilation of {name}", texts, Path(stream.name), command
    )


def _name_of(module: ModuleOp) -> str:
    """The name of the model for messages and files; of an unnamed one, what Torch-MLIR calls it."""
    name = module.attributes.get("torch.debug_module_name")
    return re.sub(r"\W", "_", name.data) if isinstance(name, StringAttr) else "UnnammedModule"


def _follow(module: MlirModule, steps: Steps) -> None:
    """Notes what a program has become, so that it is printed and called as such."""
    for step in steps:
        if (target := getattr(step, "target", None)) is not None:
            module.program.reached(target)
        elif step.name.endswith("-to-torch-backend-pipeline") or step.name.endswith("-contract"):
            module.program.reached("torch")


def lower_mlir_module(
    verbose: bool,
    output_type: str | OutputType,
    module: ModuleOp | MlirModule,
    backend_options: BackendLoweringOptions | None = None,
    enable_ir_printing: bool = False,
) -> ModuleOp | MlirModule:
    """A module at the backend contract in another dialect; works in place and returns it.

    Args:
        verbose: print the module before and after.
        output_type: ``torch`` leaves it as it is.
        module: at the backend contract.
        backend_options: options of the pipeline.
        enable_ir_printing: print the module after each pass, to standard error.

    Raises:
        TorchMlirCompilerError: an op has no lowering.
    """
    target = OutputType.get(output_type)
    options = backend_options or BackendLoweringOptions()
    if verbose:
        print(f"\n====================\nTorch Backend IR\n{module}")
    if target in (OutputType.TORCH, OutputType.RAW):
        return module
    dialect = "stablehlo" if target is OutputType.MHLO else target.value
    option = (
        "" if target is OutputType.TOSA else f"{{allow-non-finites={options.allow_non_finites}}}"
    )
    pipeline = f"torch-backend-to-{dialect}-backend-pipeline{option.lower()}"
    if target is OutputType.MHLO:
        pipeline += ",stablehlo-legalize-to-hlo"
    title = f"{target.name} Backend IR"
    run_pipeline_with_repro_report(
        module,
        f"builtin.module({pipeline})",
        f"Lowering Torch Backend IR -> {title}",
        enable_ir_printing,
    )
    if verbose:
        print(f"\n====================\n{title}\n{module}")
    return module
