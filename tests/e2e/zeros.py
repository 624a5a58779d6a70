"""Where the sign of a zero is nobody's rule: reason -> the cases, so that it is not compared there."""

from __future__ import annotations

from fnmatch import fnmatchcase

ZEROS_DIFFER: dict[str, str] = {
    "PyTorch's vectorized code and its code for the last few elements give zeros of other signs": (
        "softshrink maximum* minimum*"
    ),
    "relu is documented as the maximum of its operand and 0, and PyTorch's maximum of two zeros has no rule": (
        "relu relu_*"
    ),
    "PyTorch's kernel and PyTorch's own decomposition give zeros of other signs": (
        "grid_sample_* loss_nll* loss_multi_margin_weighted hard_backward"
    ),
    "terms of a polynomial cancel to zero, and whether a product is rounded before it is added decides on the sign": (
        "*chebyshev_*"
    ),
}


def signs_are_defined(case: str) -> bool:
    """Whether the sign of a zero among the results of a case is compared."""
    patterns = " ".join(ZEROS_DIFFER.values()).split()
    return not any(fnmatchcase(case, pattern) for pattern in patterns)
