"""Where the sign of a zero is nobody's rule: reason -> the cases, so that it is not compared there.

``test_zeros.py`` shows each reason on PyTorch alone.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

ZEROS_DIFFER: dict[str, str] = {
    "PyTorch's vectorized code and its code for the last few elements give zeros of other signs": (
        "softshrink hard_backward maximum* minimum*"  # hard_backward has softshrink among its results
    ),
    "PyTorch's kernel and PyTorch's own decomposition give zeros of other signs": (
        "relu relu_* grid_sample_* loss_nll* loss_cross_entropy_smoothed loss_multi_margin_weighted"
    ),
    "PyTorch has it of oneDNN, whose code for processors without AVX-512 gives zeros of another sign than PyTorch's own": "gelu",
    "at a root of a polynomial a recurrence gives a zero, and the form by angles, which PyTorch has for larger degrees and we for"
    " all of them, a rounding error of either sign": "*chebyshev_*",
}


def signs_are_defined(case: str) -> bool:
    """Whether the sign of a zero among the results of a case is compared."""
    patterns = " ".join(ZEROS_DIFFER.values()).split()
    return not any(fnmatchcase(case, pattern) for pattern in patterns)
