"""How a command ends: results exit 0, failures print ``error: ...`` and exit 1, never with a raw traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch2mlir.errors import Torch2MLIRError

TRACEBACK_VARIABLE = "TORCH2MLIR_TRACEBACK"


def guarded(command: Callable[[], int], show_traceback: bool = False) -> int:
    """Run a command and return its exit code.

    Args:
        command: does the work and returns the exit code of a run that came to its end.
        show_traceback: print the Python traceback of a failure too; so does a non-empty
            environment variable ``TORCH2MLIR_TRACEBACK``.
    """
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (`head`, a pager) has seen enough; stop Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if show_traceback or show_tracebacks():
            traceback.print_exc()
        print(f"error: {describe(error)}", file=sys.stderr)
        return 1


def show_tracebacks() -> bool:
    """Whether the user wants Python's traceback of failures."""
    return bool(os.environ.get(TRACEBACK_VARIABLE))


@contextmanager
def tracebacks(wanted: bool) -> Iterator[None]:
    """Tracebacks of failures while the body runs, if ``wanted``."""
    if not wanted:
        yield
        return
    before = os.environ.get(TRACEBACK_VARIABLE)
    os.environ[TRACEBACK_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[TRACEBACK_VARIABLE]
        else:
            os.environ[TRACEBACK_VARIABLE] = before


def describe(error: Exception) -> str:
    """What a user is told about a failure."""
    if isinstance(error, Torch2MLIRError):
        return str(error)
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return (
        f"{type(error).__name__}: {error}\n"
        "  next: this failure has no message of its own yet; please report it with the output of "
        f"{TRACEBACK_VARIABLE}=1"
    )
