"""Calls with sizes of 0 and 1, which capture took for 2 or more: taken where the program means the same for them.

A program in memory is looked at when such a call comes; an artefact has no program any more, and remembers what was
found when it was saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Protocol

from torch2mlir.errors import BackendContractError, InputError
from torch2mlir.program import Program
from torch2mlir.transforms.semantics.concrete_sizes import check_sizes


class SizeCheck(Protocol):
    """Who says whether a program can be called with sizes."""

    def check(self, sizes: Mapping[str, int], place: Callable[[str], str]) -> None:
        """Looks at a call: the values of all symbols, and what a symbol is called in messages."""


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
        shown = _shown(small, place)
        self._check_decisions(sizes, shown)
        try:
            check_sizes(self._program.module, small)
        except BackendContractError:
            # sizes that are equal as numbers need not be as expressions
            self._check_all(sizes, shown)
            return
        self._sound.add(key)

    def reason(self, small: Mapping[str, int]) -> str | None:
        """Why sizes of 0 and 1 are refused whatever the others are; None if they are not."""
        try:
            self._check_decisions(small, "")
            check_sizes(self._program.module, small)
        except (BackendContractError, InputError) as error:
            return error.message.removeprefix(", and ")
        return None

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


@dataclass(frozen=True)
class FoundSizes:
    """What was found of sizes of 0 and 1 when a program was saved.

    Attributes:
        found: combinations of such sizes, each with the reason why it is refused, or None.
    """

    found: Sequence[tuple[Mapping[str, int], str | None]]

    @staticmethod
    def of(program: Program, most: int = 80) -> FoundSizes:
        """What is found of a program; of one with many symbols, for ``most`` combinations, those of few first."""
        sizes = SmallSizes(program)
        names = list(program.signature.ranges)
        every = (
            {name: size for name, size in zip(names, values, strict=True) if size is not None}
            for values in product((None, 1, 0), repeat=len(names))
        )
        few = sorted(islice(every, 3**7), key=len)[1 : most + 1]
        return FoundSizes([(small, sizes.reason(small)) for small in few])

    @staticmethod
    def read(data: Any) -> FoundSizes:
        """The inverse of :meth:`written`."""
        return FoundSizes([(entry["sizes"], entry["reason"]) for entry in data])

    def written(self) -> list[dict[str, Any]]:
        """As numbers, texts and lists."""
        return [{"sizes": dict(sizes), "reason": reason} for sizes, reason in self.found]

    def check(self, sizes: Mapping[str, int], place: Callable[[str], str]) -> None:
        """As :meth:`SmallSizes.check`."""
        small = {name: size for name, size in sizes.items() if size < 2}
        if not small:
            return
        reasons = [reason for known, reason in self.found if known == small]
        reason = reasons[0] if reasons else "nobody looked at such sizes when the program was saved"
        if reason is not None:
            raise InputError(f"{_shown(small, place)}, and {reason}", hint=_HINT)


def _shown(small: Mapping[str, int], place: Callable[[str], str]) -> str:
    return " and ".join(f"{place(name)} is {size}" for name, size in small.items())


_HINT = "compile the model for this size too, from an example that has it and without dynamic_shapes for that dimension"
