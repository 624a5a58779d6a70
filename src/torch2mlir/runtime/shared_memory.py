"""Arguments that share memory with something that the program writes to.

A program takes each of its arguments for a tensor of its own: in ``x.add_(1); return x * y`` nothing tells it that
``y`` is ``x`` in this call, or a part of it. Eager mode would see the new elements there, so such a call is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch2mlir.errors import InputError
from torch2mlir.frontends.fx.refused_writes import overlaps_itself
from torch2mlir.frontends.memory import share_elements, span
from torch2mlir.program import Signature, StateInput, UserInput


class WrittenMemory:
    """Looks at the memory of a call's arguments, for programs that write to arguments or state.

    Args:
        signature: of the program.
    """

    def __init__(self, signature: Signature) -> None:
        self._inputs = [item for item in signature.user_inputs if item.type is not None]
        self._signature = signature
        self._inputs_written = {m.position for m in signature.mutations if m.position is not None}
        self._states_written = {m.name for m in signature.mutations if m.position is None}

    def check(self, leaves: Sequence[Any]) -> None:
        """Looks at the arguments of one call.

        Raises:
            InputError: something that is written shares elements with an argument, with the names of both, or has
                several elements at one place.
        """
        given = [
            (item, leaves[item.position], *span(leaves[item.position])) for item in self._inputs
        ]
        written = [each for each in given if each[0].position in self._inputs_written]
        for item, tensor, *_ in written:
            if overlaps_itself(tensor):
                raise InputError(
                    f"the program writes to input '{item.name}', several of whose elements are one place of memory",
                    hint="clone it: it was made by expand(..) or as_strided(..), or by an op that expands",
                )
        for item, tensor, begin, end in given:
            for other, tensor2, begin2, end2 in written:
                if (
                    other is not item
                    and begin < end2
                    and begin2 < end
                    and share_elements(tensor, tensor2)
                ):
                    raise _refusal(f"input '{other.name}'", f"input '{item.name}'")
        for state in self._signature.state_inputs:
            is_written = state.name in self._states_written
            self._check_state(state, is_written, given if is_written else written)

    def _check_state(
        self, state: StateInput, is_written: bool, given: Sequence[tuple[UserInput, Any, int, int]]
    ) -> None:
        if not given or state.tensor is None:  # a weight that a loaded program has in its code
            return
        begin, end = span(state.tensor)
        for item, tensor, begin2, end2 in given:
            if begin < end2 and begin2 < end and share_elements(tensor, state.tensor):
                names = f"the model's '{state.name}'", f"input '{item.name}'"
                raise _refusal(*(names if is_written else reversed(names)))


def _refusal(written: str, other: str) -> InputError:
    return InputError(
        f"the program writes to {written}, which shares memory with {other} in this call",
        hint="clone one of them: the program takes each for a tensor of its own",
    )
