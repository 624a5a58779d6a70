"""What cannot work, and why: one entry per reason, with the configurations and the cases it holds for.

An entry is strict: a case that passes although it is listed fails the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch2mlir.errors import EngineError, Torch2MLIRError, UnsupportedOpError

Raises = type[Exception] | tuple[type[Exception], ...]


@dataclass(frozen=True)
class ExpectedFailure:
    """A reason, and where it holds.

    Attributes:
        reason: one sentence.
        raises: what the failure looks like, an error of ours: a wrong answer is never expected, and neither is an
            exception of somebody else's. Another exception is a failure of the test.
        configurations: patterns of ``dialect-engine-mode``, separated by spaces.
        cases: patterns of case names, separated by spaces.
        excepting: patterns of cases that work all the same.
        pytorchs: whether it fails in PyTorch before torch2mlir is asked, with an exception of PyTorch's.
    """

    reason: str
    raises: Raises
    configurations: str
    cases: str
    excepting: str = ""
    pytorchs: bool = False

    def __post_init__(self) -> None:
        raised = self.raises if isinstance(self.raises, tuple) else (self.raises,)
        ours = all(issubclass(each, Torch2MLIRError) for each in raised)
        if not ours and (not self.pytorchs or AssertionError in raised):
            raise TypeError(
                f"{self.reason}: a wrong answer cannot be expected, only an error of ours"
            )

    def holds(self, case: str, configuration: str) -> bool:
        """Whether a case is expected to fail there."""
        return (
            matches(configuration, self.configurations)
            and matches(case, self.cases)
            and not matches(case, self.excepting)
        )


def matches(name: str, patterns: str) -> bool:
    """Whether a name is of one of the patterns, which are separated by spaces."""
    return any(fnmatchcase(name, pattern) for pattern in patterns.split())


XFAILS: list[ExpectedFailure] = [
    ExpectedFailure(
        "IREE takes a StableHLO convolution with one place of output for a window of other sizes",
        EngineError,
        "stablehlo-iree-*",
        "conv1d_one_place conv2d_one_place conv2d_one_place_dilated",
    ),
    ExpectedFailure(
        "IREE forgets that a depthwise StableHLO convolution of 16-bit floats adds up in 32 bits",
        EngineError,
        "stablehlo-iree-*",
        "conv2d_depthwise_f16",
    ),
    ExpectedFailure(
        "IREE does not lower unsigned integers that StableHLO takes bit by bit, or that are padded",
        EngineError,
        "stablehlo-iree-*",
        "view_u8 movement_in_u8",
    ),
    ExpectedFailure(
        "IREE leaves a pivot's row of a StableHLO gather between two types of its own",
        EngineError,
        "stablehlo-iree-*",
        "lu_of_tall_matrices",
    ),
    ExpectedFailure(
        "IREE makes of a StableHLO scatter of windows one that its own verifier refuses",
        EngineError,
        "stablehlo-iree-*",
        "fold_image",
    ),
    ExpectedFailure(
        "IREE counts too few elements in a buffer that a StableHLO loop carries",
        EngineError,
        "stablehlo-iree-dynamic",
        "legendre_of_any_degree",
    ),
    ExpectedFailure(
        "IREE has no StableHLO op whose sizes depend on elements",
        EngineError,
        "stablehlo-iree-*",
        "sized_where_true",
    ),
    ExpectedFailure(
        "IREE compiles no TOSA convolution whose number of channels is only known at run time: the batch is the"
        " channels in the gradient of a weight",
        EngineError,
        "tosa-iree-dynamic",
        "conv2d_plain_backward conv2d_strided_backward conv2d_dilated_backward conv1d_backward"
        " conv_transpose2d_backward",
    ),
    ExpectedFailure(
        "a TOSA convolution has a kernel of known size: the image is the kernel in the gradient of a weight",
        UnsupportedOpError,
        "tosa-iree-dynamic",
        "conv2d_dynamic_image_backward",
    ),
    ExpectedFailure(
        "XLA compiles static shapes only: no size can depend on elements",
        EngineError,
        "stablehlo-xla-*",
        "sized_*",
    ),
    ExpectedFailure(
        "TOSA takes sizes from types and constants: none can depend on elements",
        UnsupportedOpError,
        "tosa-*",
        "sized_*",
    ),
    ExpectedFailure(
        "TOSA has no 64-bit floats",
        UnsupportedOpError,
        "tosa-*",
        "*_f64 *_in_f64 *_float64_* f64_precision promote_f32_f64 float_power cumsum_to_dtype"
        " quantize_per_token_asymmetric",
        excepting="view_f64 full_f64 to_f64",
    ),
    ExpectedFailure(
        "IREE finds no order for the loops of TOSA's sort over a length known at run time",
        EngineError,
        "tosa-iree-dynamic",
        "mode_long",
    ),
    ExpectedFailure(
        "IREE leaves a cast in what it makes of TOSA's gather and reverse of a part of an argument",
        EngineError,
        "tosa-iree-static",
        "irfft_split complex_lu",
    ),
    ExpectedFailure(
        "IREE leaves a cast in what it makes of TOSA's gather and reverse of a part of an argument",
        EngineError,
        "tosa-iree-dynamic",
        "irfft_split hermitian_factors_and_solution",
    ),
    ExpectedFailure(
        "TOSA cannot read the bits of a float as an integer",
        UnsupportedOpError,
        "tosa-*",
        "bits_of_floats bits_of_integers bits_of_halves bits_of_complex bits_in_other_widths frexp* nextafter*"
        " hash_floats",
    ),
    ExpectedFailure(
        "ONNX Runtime has no kernels of these functions for 64-bit floats",
        EngineError,
        "onnx-onnxruntime-*",
        "acos_f64 acosh_f64 asin_f64 asinh_f64 atan_f64 atan2_f64 atanh_f64 cosh_f64 sinh_f64 tan_f64 erf_f64 gelu_f64"
        " special_f64 conv2d_f64 avg_pool2d_f64 sinh_of_small_numbers_f64 asinh_of_small_numbers_f64 atanh_of_small_numbers_f64",
    ),
]


def expected_failure(case: str, configuration: str) -> ExpectedFailure | None:
    """The entry for a case on a configuration, if there is one."""
    return next((x for x in XFAILS if x.holds(case, configuration)), None)


def idle_entries(runs: list[tuple[str, str]]) -> Iterator[str]:
    """Patterns that match no run."""
    for entry in XFAILS:
        holds = [case for case, configuration in runs if entry.holds(case, configuration)]
        for pattern in entry.cases.split():
            if not any(fnmatchcase(case, pattern) for case in holds):
                yield f"{entry.reason}: {pattern}"
