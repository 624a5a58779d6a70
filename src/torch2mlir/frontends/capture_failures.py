"""Why PyTorch could not capture a model, in the user's terms, and what to do about it."""

from __future__ import annotations

import inspect
import os
import re
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch2mlir.errors import CaptureError

_OPTIMIZE = "torch2mlir.optimize(model, ...) compiles what can be and leaves the rest to PyTorch"

_DATA_DEPENDENT = (
    "data-dependent control flow and shapes cannot be captured whole: rewrite them with torch.where or torch.cond, "
    "tell PyTorch what holds with torch._check, see torch.export.draft_export(..) for a report of everything in the "
    f"way; or {_OPTIMIZE}"
)

_NOT_TRACED = f"a part of the model is not for PyTorch to trace: {_OPTIMIZE}"

_HINTS: Sequence[tuple[tuple[str, ...], str]] = (
    (
        ("Unsupported input type", "not a known type", "not a valid input type"),
        "make the type known with torch.export.register_dataclass(..) or torch.utils._pytree.register_pytree_node(..), "
        "or pass its tensors one by one",
    ),
    (
        (
            "dynamic_shapes",
            "Constraints violated",
            "ConstraintViolation",
            "Detected mismatch between",
        ),
        "correct dynamic_shapes: one entry for each argument, a size that the model fixes is None, "
        "Dim.AUTO lets PyTorch find out",
    ),
    (
        ("fake tensor in the exported program",),
        "the model differentiates by torch.autograd.grad: write torch.func.grad; or it gives a tensor other memory "
        "(w.data = ..), or keeps what it computes outside of its attributes: write into the tensor, w.copy_(..); "
        f"or {_OPTIMIZE}",
    ),
    (("data-dependent", "Data-dependent", "DataDependent", "unbacked"), _DATA_DEPENDENT),
    (
        ("graph break", "Graph break", "Unsupported", "torch._dynamo", "not traceable"),
        _NOT_TRACED,
    ),
)
"""Words of a message -> what to do; the first that fits."""

_OF_THE_MODEL = "the model itself raises this on the example arguments: correct them, or the model"
_OF_THE_TRACE = (
    f"the model runs on the example arguments, and PyTorch's trace of it does not: {_OPTIMIZE}"
)


def check_arguments(
    model: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raises a :class:`CaptureError` if the model does not take such example arguments."""
    function = getattr(model, "forward", model)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # PyTorch's own functions have no signature
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        takes = ", ".join(map(str, signature.parameters.values()))
        raise CaptureError(
            f"torch.export cannot capture the model: the example arguments do not fit: {error}",
            hint=f"the model takes ({takes}); give an example of each after the model",
        ) from None


_ONE_BY_ONE = (
    "the model's one argument is a {}: if these are its arguments, give them one after the other, "
    "compile(model, x, y), where torch.export takes a tuple of them"
)


def explained(error: Exception, args: Sequence[Any], runs: Callable[[], bool]) -> CaptureError:
    """What PyTorch's failure on these arguments means, with the line of the model and a way on that fits the cause.

    Args:
        error: of PyTorch's, or of the model's.
        args: the example arguments.
        runs: tells whether the model runs on them; it is asked where nothing else says what to do.
    """
    reason = [line for line in str(error).strip().splitlines() if _is_reason(line)]
    said = f"{type(error).__name__} {error}"
    if (
        len(args) == 1
        and isinstance(args[0], tuple | list)
        and isinstance(error, TypeError | AttributeError)
    ):
        hint = _ONE_BY_ONE.format(type(args[0]).__name__)
    else:
        known = (hint for words, hint in _HINTS if any(word in said for word in words))
        hint = next(known, _OF_THE_TRACE)
        if hint in (_NOT_TRACED, _OF_THE_TRACE) and not runs():
            hint = _OF_THE_MODEL
    return CaptureError(
        f"torch.export cannot capture the model: {type(error).__name__}: "
        + ("\n  ".join(reason[:4]) if reason else "no reason given"),
        location=user_line(error) or _line_in(str(error)),
        hint=hint,
    )


def _is_reason(line: str) -> bool:
    """Whether a line says something of the failure, and not where in PyTorch it was or how to see more."""
    return bool(line.strip()) and not line.strip().startswith(
        (
            "Caused by:",
            "For more information",
            "For extended logs",
            "If you suspect",
            "For more debugging",
        )
    )


def _line_in(message: str) -> str | None:
    """The innermost line of the model in a message; PyTorch's reader of bytecode puts it there."""
    places = re.findall(r'File "([^"]+)", line (\d+)', message)
    own = [f"{file}:{line}" for file, line in places if f"{os.sep}torch{os.sep}" not in file]
    return own[-1] if own else None


def user_line(error: BaseException) -> str | None:
    """The innermost line outside PyTorch, Python's library and torch2mlir that an exception passed through."""
    foreign = (str(Path(__file__).parent.parent), sysconfig.get_paths()["stdlib"], "<")
    place = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}torch{os.sep}" not in file and (
            "site-packages" in file or not file.startswith(foreign)
        ):
            place = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
