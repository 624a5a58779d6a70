"""Cases that cannot run on PyTorch's lazy device; they fail there without torch2mlir too."""

from __future__ import annotations

from torch._dynamo.exc import Unsupported
from torch._subclasses.fake_tensor import UnsupportedFakeTensorException

from tests.e2e.xfails import ExpectedFailure

XFAILS: list[ExpectedFailure] = [
    ExpectedFailure(
        "torch.cond and its like are traced by Dynamo, which has no fake tensors of the lazy device",
        (Unsupported, UnsupportedFakeTensorException),
        "lazy",
        "cond_of_a_tensor cond_otherwise cond_in_cond cond_of_layers while_counting while_until_large map_over_rows"
        " scan_over_rows scan_in_reverse",
    ),
    ExpectedFailure(
        "the program makes a tensor on the CPU and mixes it with those of the lazy device",
        RuntimeError,
        "lazy",
        "prims_iota state",
    ),
    ExpectedFailure(
        "PyTorch's functionalization takes no views but ATen's",
        RuntimeError,
        "lazy",
        "prims_of_movement",
    ),
    ExpectedFailure(
        "PyTorch takes the places to split at from the CPU",
        RuntimeError,
        "lazy",
        "sized_tensor_split",
    ),
    ExpectedFailure(
        "PyTorch has no derivative of std on the lazy device, and says so in a warning",
        AssertionError,
        "lazy",
        "moments_backward",
    ),
    ExpectedFailure(
        "XLA takes subnormal numbers for zero",
        AssertionError,
        "lazy",
        "frexp_subnormal",
    ),
]
