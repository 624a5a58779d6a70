"""The one exception family of torch2mlir: what failed, where in the user's model, what to do next."""

from __future__ import annotations


class Torch2MLIRError(Exception):
    """Root of every error torch2mlir raises on purpose.

    Args:
        message: what failed, in one sentence.
        op: the operation it failed on, by its dialect name (``torch.aten.foo``) or its text.
        location: the line of the user's program, ``file.py:12``.
        dialect: the dialect that was being produced or read.
        hint: what the user can do next.
    """

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        location: str | None = None,
        dialect: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.message = message
        self.op = op
        self.location = location
        self.dialect = dialect
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        lines = [self.message]
        for label, value in (
            ("op", self.op),
            ("at", self.location),
            ("dialect", self.dialect),
            ("next", self.hint),
        ):
            if value:
                lines.append(f"  {label}: {value}")
        return "\n".join(lines)


class CaptureError(Torch2MLIRError):
    """A PyTorch program could not be captured or imported (data-dependent shape, unknown object)."""


class BackendContractError(Torch2MLIRError):
    """The module does not satisfy the backend contract (unranked, unknown dtype, non-core op)."""


class UnsupportedOpError(Torch2MLIRError):
    """A core op has no lowering, or none for these operands, in the chosen dialect."""


class ParseError(Torch2MLIRError):
    """A file or text is not what it should be (malformed MLIR, not an ExportedProgram)."""


class PassError(Torch2MLIRError):
    """An unknown pass or pipeline name, bad pass options, or a pass that failed."""


class InputError(Torch2MLIRError, ValueError):
    """Arguments of a compiled callable of the wrong number, dtype, rank or static size."""


class EngineError(Torch2MLIRError):
    """An engine is not installed, or refused or failed to run the program."""


class ArtefactError(Torch2MLIRError):
    """An artefact on disk is damaged, foreign, or made for another version or machine."""
