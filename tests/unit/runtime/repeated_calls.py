"""A compiled function called again and again with new values, against eager PyTorch, inputs and state looked at too."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import Torch2MLIRError

NewArguments = Callable[[], tuple[Any, ...]]


class Together(torch.nn.Module):
    """Several programs as one, which an engine compiles at once.

    IREE takes about as long for the first small program of a module as for five more. Arguments and results go by the
    name of their program: each program has arguments of its own, as it has alone, and what differs from eager is named.

    Args:
        programs: functions and modules.
    """

    def __init__(self, programs: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.programs = dict(programs)
        self.modules_of_programs = torch.nn.ModuleList(
            each for each in programs.values() if isinstance(each, torch.nn.Module)
        )
        self.eval()

    def forward(self, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        """The results of all programs.

        Args:
            arguments: those of each program.
        """
        return {name: program(*arguments[name]) for name, program in self.programs.items()}


def agrees_with_eager(
    model: Any,
    arguments: NewArguments,
    *,
    calls: int = 3,
    tolerance: float | None = 1e-4,
    **options: Any,
) -> None:
    """Compiles a model and calls it with fresh arguments each time.

    Results (also those of earlier calls), inputs and the module's state must be what eager PyTorch leaves, within an
    absolute and relative tolerance: None for what PyTorch's own tests allow a dtype.
    """
    example = arguments()
    try:
        _agrees(model, example, arguments, calls, tolerance, **options)
    except Torch2MLIRError as error:
        if isinstance(model, Together):
            error.add_note(f"alone, these are refused: {_refused(model, *example, **options)}")
        raise


def _agrees(
    model: Any,
    example: tuple[Any, ...],
    arguments: NewArguments,
    calls: int,
    tolerance: float | None,
    **options: Any,
) -> None:
    eager = copy.deepcopy(model)
    compiled = torch2mlir.compile(model, *example, **options)
    if isinstance(model, torch.nn.Module):
        eager.load_state_dict(model.state_dict())
    kept = list[tuple[Any, Any]]()
    for _ in range(calls):
        args = arguments()
        theirs, ours = copy.deepcopy(args), copy.deepcopy(args)
        with torch.no_grad():
            kept.append((compiled(*ours), eager(*theirs)))
        _close((ours, _state(model)), (theirs, _state(eager)), tolerance)
        _close(*zip(*kept), tolerance)


def _refused(
    together: Together,
    arguments: dict[str, tuple[Any, ...]],
    *,
    dynamic_shapes: Any = None,
    **options: Any,
) -> list[str]:
    names = list[str]()
    for name, program in together.programs.items():
        shapes = dynamic_shapes and dynamic_shapes[0][name]
        args = copy.deepcopy(arguments[name])
        try:
            torch2mlir.compile(program, *args, dynamic_shapes=shapes, **options)(*args)
        except Torch2MLIRError:
            names.append(name)
    return names


def _state(model: Any) -> dict[str, torch.Tensor]:
    return dict(model.state_dict()) if isinstance(model, torch.nn.Module) else {}


def _close(actual: Any, expected: Any, tolerance: float | None) -> None:
    """Every difference is said, with its place: in the results of several programs the place names the program."""
    ours, theirs = pytree.tree_leaves_with_path(actual), pytree.tree_leaves(expected)
    assert len(ours) == len(theirs)
    differences = list[str]()
    for (path, a), b in zip(ours, theirs):
        try:
            torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance, equal_nan=True)
        except AssertionError as error:
            differences.append(f"{pytree.keystr(path)}: {error}")
    assert not differences, "\n\n".join(differences)
