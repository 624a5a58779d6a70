"""Sizes of a call for which capture made another program: those of 0 and 1, which it took for 2 or more, and others.

A program in memory is looked at when a call comes with new sizes of 0 and 1; an artefact has no program any more, and
remembers what was found when it was saved. What the model's code asked of its sizes is asked again for all sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Protocol

from xdsl.dialects.builtin import ModuleOp

from torch2mlir.errors import BackendContractError, InputError
from torch2mlir.program import Decision, Program, Signature


class AnotherProgram(InputError):
    """A call that this program does not hold for, and that the model may have another one for."""


Place = Callable[[str], str]
"""What a symbol is called in messages."""


class SizeCheck(Protocol):
    """Who says whether a program can be called with sizes."""

    def check(self, sizes: Mapping[str, int], place: Place) -> None:
        """Looks at a call with these values of all symbols.

        Raises:
            AnotherProgram: it is another one for these sizes.
        """


def check_sizes(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    """As :func:`torch2mlir.transforms.semantics.concrete_sizes.check_sizes`; artefacts run without the passes."""
    from torch2mlir.transforms.semantics import concrete_sizes

    concrete_sizes.check_sizes(module, sizes)


class SmallSizes:
    """Looks at a program once for each combination of sizes of 0 and 1 that it is called with.

    Args:
        program: at the backend contract.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._sound = set[tuple[tuple[str, int], ...]]()

    def check(self, sizes: Mapping[str, int], place: Place) -> None:
        """See :class:`SizeCheck`."""
        check_decisions(self._program.signature, sizes, place)
        small = _small(sizes)
        key = tuple(sorted(small.items()))
        if not small or key in self._sound:
            return
        try:
            check_sizes(self._program.module, small)
        except BackendContractError:
            # sizes that are equal as numbers need not be as expressions
            self._check_all(sizes, _shown(small, place))
            return
        self._sound.add(key)

    def reason(self, small: Mapping[str, int]) -> str | None:
        """Why sizes of 0 and 1 are refused whatever the others are; None if they are not."""
        try:
            check_sizes(self._program.module, small)
        except BackendContractError as error:
            return _REASON + error.message
        return None

    def _check_all(self, sizes: Mapping[str, int], shown: str) -> None:
        try:
            check_sizes(self._program.module, sizes)
        except BackendContractError as error:
            raise AnotherProgram(
                f"{shown}, and {_REASON}{error.message}",
                op=error.op,
                location=error.location,
                hint=_HINT,
            ) from error


@dataclass(frozen=True)
class FoundSizes:
    """What was found of sizes of 0 and 1 when a program was saved.

    Attributes:
        signature: of the program.
        found: combinations of such sizes, each with the reason why it is refused, or None.
    """

    signature: Signature
    found: Sequence[tuple[Mapping[str, int], str | None]]

    @staticmethod
    def of(program: Program, most: int = 80) -> FoundSizes:
        """What is found of a program; of one with many symbols, for ``most`` combinations, those of few first."""
        sizes, names = SmallSizes(program), list(program.signature.ranges)
        every = (
            {name: size for name, size in zip(names, values, strict=True) if size is not None}
            for values in product((None, 1, 0), repeat=len(names))
        )
        few = sorted(islice(every, 3**7), key=len)[1 : most + 1]
        return FoundSizes(program.signature, [(small, sizes.reason(small)) for small in few])

    @staticmethod
    def read(data: Any, signature: Signature) -> FoundSizes:
        """The inverse of :meth:`written`."""
        return FoundSizes(signature, [(entry["sizes"], entry["reason"]) for entry in data])

    def written(self) -> list[dict[str, Any]]:
        """As numbers, texts and lists."""
        return [{"sizes": dict(sizes), "reason": reason} for sizes, reason in self.found]

    def check(self, sizes: Mapping[str, int], place: Place) -> None:
        """See :class:`SizeCheck`."""
        check_decisions(self.signature, sizes, place)
        if not self.found or not (small := _small(sizes)):
            return
        reasons = [reason for known, reason in self.found if known == small]
        reason = reasons[0] if reasons else "nobody looked at such sizes when the program was saved"
        if reason is not None:
            raise AnotherProgram(f"{_shown(small, place)}, and {reason}", hint=_HINT)


def check_decisions(signature: Signature, sizes: Mapping[str, int], place: Place) -> None:
    """Asks again what the model and decompositions asked of sizes.

    Raises:
        AnotherProgram: the answer is another one.
    """
    for decision in signature.decisions:
        if not decision.holds(sizes):
            values = {name: sizes[name] for name in decision.symbols}
            raise AnotherProgram(
                f"{_shown(values, place)}, and the model does something else for such sizes: it was captured where "
                f"'{_asked(decision, signature.size_names)}' is {decision.answer}",
                location=decision.location or None,
                hint=_HINT,
            )


def _asked(decision: Decision, names: Mapping[str, str]) -> str:
    """A question in the user's names of sizes."""
    return re.sub(r"\w+", lambda name: names.get(name[0], name[0]), decision.asked)


def _small(sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: size for name, size in sizes.items() if size < 2}


def _shown(sizes: Mapping[str, int], place: Place) -> str:
    return " and ".join(f"{place(name)} is {size}" for name, size in sizes.items())


_REASON = "capture took it for 2 or more: "
_HINT = "compile the model for this size too, from an example that has it and without dynamic_shapes for that dimension"
