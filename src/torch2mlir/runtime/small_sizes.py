"""Calls with sizes of 0 and 1, which capture took for 2 or more: taken where the program means the same for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from torch2mlir.errors import BackendContractError, InputError
from torch2mlir.program import Program
from torch2mlir.transforms.semantics.concrete_sizes import check_sizes


class SmallSizes:
    """Looks at a program once for each combination of sizes of 0 and 1 that it is called with.

    Args:
        program: at the backend contract.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._sound = set[tuple[tuple[str, int], ...]]()

    def check(self, sizes: Mapping[str, int], place: Callable[[str], str]) -> None:
        """Looks at a call.

        Args:
            sizes: the values of all symbols.
            place: what a symbol is called in messages.

        Raises:
            InputError: the program is another one for these sizes.
        """
        small = {name: size for name, size in sizes.items() if size < 2}
        key = tuple(sorted(small.items()))
        if not small or key in self._sound:
            return
        shown = " and ".join(f"{place(name)} is {size}" for name, size in small.items())
        self._check_decisions(sizes, shown)
        try:
            check_sizes(self._program.module, small)
        except BackendContractError:
            # sizes that are equal as numbers need not be as expressions
            self._check_all(sizes, shown)
            return
        self._sound.add(key)

    def _check_all(self, sizes: Mapping[str, int], shown: str) -> None:
        try:
            check_sizes(self._program.module, sizes)
        except BackendContractError as error:
            raise InputError(
                f"{shown}, and capture took it for 2 or more: {error.message}",
                op=error.op,
                location=error.location,
                hint=_HINT,
            ) from error

    def _check_decisions(self, sizes: Mapping[str, int], shown: str) -> None:
        names = self._program.signature.size_names
        for decision in self._program.signature.decisions:
            if decision.again(sizes) not in (decision.answer, None):
                asked = re.sub(r"\w+", lambda name: names.get(name[0], name[0]), decision.asked)
                raise InputError(
                    f"{shown}, and the model does something else for such sizes: it was captured where "
                    f"'{asked}' is {decision.answer}",
                    location=decision.location,
                    hint=_HINT,
                )


_HINT = "compile the model for this size too, from an example that has it and without dynamic_shapes for that dimension"
