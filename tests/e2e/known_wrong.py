"""Wrong answers that are known and not yet avoided. Each is a defect: this list is to become empty.

Nothing else in the tests may expect a wrong answer (``xfails.py`` takes errors of ours only). An entry is strict: a case that
is right again fails the run until its entry is gone, and every run prints how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.xfails import matches


@dataclass(frozen=True)
class KnownWrong:
    """Who is wrong about what.

    Attributes:
        reason: one sentence.
        configurations: patterns of ``dialect-engine-mode``, ``lazy``, ``script`` and ``trace``, separated by spaces.
        cases: patterns of case names, separated by spaces.
    """

    reason: str
    configurations: str
    cases: str

    def holds(self, case: str, configuration: str) -> bool:
        """Whether a case is wrong there."""
        return matches(configuration, self.configurations) and matches(case, self.cases)


KNOWN_WRONG: tuple[KnownWrong, ...] = (
    KnownWrong(
        "XLA and IREE take subnormal numbers for zero",
        "stablehlo-xla-* linalg-iree-* lazy script trace",
        "frexp_subnormal",
    ),
    KnownWrong(
        "IREE starts the maximum of TOSA at the lowest finite number, not at minus infinity",
        "tosa-iree-*",
        "amax_nan max_pool2d_edges",
    ),
    KnownWrong(
        "IREE's approximations of odd functions lose the sign of a zero",
        "linalg-iree-*",
        "erf tan tan_half atanh atanh_half sin sin_half sinh sinh_half sinh_f64 expm1_f64 log1p_f64 atanh_f64 erf_half",
    ),
    KnownWrong(
        "IREE's approximations of odd functions lose the sign of a zero",
        "tosa-iree-*",
        "erf sin sin_half erf_half",
    ),
    KnownWrong(
        "XLA takes the product with a converted boolean for a selection, which has no negative zero",
        "stablehlo-xla-*",
        "promote_bool_f32 fake_quantize_learned fake_quantize_learned_channels",
    ),
    KnownWrong(
        "ONNX Runtime's Where gives 0.0 for a -0.0 that it chooses from its first operand",
        "onnx-onnxruntime-*",
        "div_floor div_trunc_bf16 floor_divide_bf16 floor_divide_of_zeros floor_divide_of_zeros_by_-0.3"
        " trunc_divide_of_zeros_by_3.3",
    ),
    KnownWrong(
        "ONNX Runtime has no log1p of 64-bit floats, and the sum in its place loses the sign of a zero",
        "onnx-onnxruntime-*",
        "log1p_f64",
    ),
    KnownWrong(
        "a traced program keeps the places to split at of its example",
        "trace",
        "sized_tensor_split",
    ),
    KnownWrong(
        "PyTorch itself has no derivative of std on the lazy device, and says so in a warning only",
        "lazy",
        "moments_backward",
    ),
)


def marks(case: str, configuration: str) -> Iterator[pytest.MarkDecorator]:
    """The mark of a case that is known to be wrong."""
    for entry in KNOWN_WRONG:
        if entry.holds(case, configuration):
            yield pytest.mark.known_wrong
            yield pytest.mark.xfail(
                reason=f"KNOWN WRONG: {entry.reason}", raises=AssertionError, strict=True
            )
