"""What cannot work through TorchScript, and why: one entry per reason, with the ways to it and the cases.

An entry is strict: a case that passes although it is listed fails the run.
"""

from __future__ import annotations

from tests.e2e.xfails import ExpectedFailure
from torch2mlir.errors import BackendContractError, CaptureError, EngineError

XFAILS: list[ExpectedFailure] = [
    ExpectedFailure(
        "XLA has no sizes that depend on the elements of a tensor",
        (EngineError, BackendContractError),
        "script trace",
        "sized_*",
    ),
    ExpectedFailure(
        "XLA has no sizes that depend on the elements of a tensor",
        (EngineError, BackendContractError),
        "script",
        "window_at_a_read_position",
    ),
    ExpectedFailure(
        "TorchScript does not say whether these ops give views here, and one of the names is written",
        BackendContractError,
        "script trace",
        "undeclared_view_*",
    ),
    ExpectedFailure(
        "the tensors in a list are written all at once",
        BackendContractError,
        "script",
        "foreach_in_place",
    ),
    ExpectedFailure(
        "the list among the op's results is returned as a whole",
        BackendContractError,
        "script",
        "histogram_of_points",
    ),
    ExpectedFailure(
        "an option of the op is an element of a tensor that the caller passes",
        BackendContractError,
        "trace",
        "arange_start",
    ),
    ExpectedFailure(
        "TorchScript takes the dtype that view is given for a size",
        BackendContractError,
        "script",
        "bits_of_floats bits_of_halves bits_of_integers bits_without_sign bits_of_booleans bits_in_other_widths"
        " bits_of_integers_in_other_widths bits_of_complex bits_as_complex",
    ),
    ExpectedFailure(
        "TorchScript does not say how tensors lie in memory",
        CaptureError,
        "trace script",
        "as_strided* scatters_of_another_dtype",
    ),
    ExpectedFailure(
        "PyTorch has no instance normalization that returns the running statistics instead of writing them",
        BackendContractError,
        "trace",
        "instance_norm_training",
    ),
    ExpectedFailure(
        "a trace has the number of elements chosen by a mask as a constant",
        BackendContractError,
        "trace",
        "masked_update_by_route",
    ),
]
