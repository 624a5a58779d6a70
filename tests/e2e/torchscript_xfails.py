"""What cannot work through TorchScript, and why, by the way to it."""

from __future__ import annotations

_STATE = "the program changes a buffer, and the backend contract has no state"
_WRITES = "the program writes to its argument, which is a value here"
_LIST = "the program returns a list, and the backend contract has tensors, numbers and tuples of them only"
_DEFAULTS = "the function has arguments with defaults, and examples are needed for all arguments"
_NUMBER = "tracing makes a tensor of a number that the program returns"
_DATA = "XLA has no sizes that depend on the elements of a tensor"
_SUBNORMAL = "XLA takes subnormal numbers for zero"
_ARGUMENT = "an option of the op is an element of a tensor that the caller passes"
_TUPLES = "a tuple in a tuple comes out of a call that is inlined late"


def _cases(**reasons: str) -> dict[str, str]:
    return reasons


_BOTH = _cases(
    input_mutated=_WRITES,
    input_mutated_and_returned=_WRITES,
    input_mutated_slice=_WRITES,
    two_inputs_mutated=_WRITES,
    batch_norm_in_training=_STATE,
    buffer_returned=_STATE,
    cache=_STATE,
    counter=_STATE,
    running_mean=_STATE,
)

CRASHES = {"windows"}
"""Cases that end the process when PyTorch scripts them."""

XFAILS: dict[str, dict[str, str]] = {
    "trace": _BOTH
    | _cases(
        arange_start=_ARGUMENT,
        foreach_in_place=_LIST,
        returns_a_list=_LIST,
        segment_reduce=_LIST,
        segment_reduce_extrema=_LIST,
        windows=_LIST,
        frexp_subnormal=_SUBNORMAL,
        returns_a_remainder=_NUMBER,
        returns_a_size=_NUMBER,
        returns_arithmetic_of_sizes=_NUMBER,
        sized_where_true=_DATA,
    ),
    "script": _BOTH
    | _cases(
        fake_quantize_learned=_TUPLES,
        frexp_subnormal=_SUBNORMAL,
        kl_div=_DEFAULTS,
        silu=_DEFAULTS,
        sized_bincount_weights=_DATA,
        sized_masked_select=_DATA,
        sized_unique_consecutive=_DATA,
        sized_unique_rows=_DATA,
        returns_a_list=_LIST,
    ),
}
