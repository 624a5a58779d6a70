"""Cases that cannot run on PyTorch's lazy device; they fail there without torch2mlir too."""

from __future__ import annotations

from torch._dynamo.exc import Unsupported
from torch._subclasses.fake_tensor import UnsupportedFakeTensorException

from tests.e2e.xfails import ExpectedFailure
from torch2mlir.errors import CaptureError

XFAILS: list[ExpectedFailure] = [
    ExpectedFailure(
        "torch.cond and its like are traced by Dynamo, which has no fake tensors of the lazy device",
        (Unsupported, UnsupportedFakeTensorException),
        "lazy",
        "cond_of_a_tensor cond_otherwise cond_in_cond cond_of_layers while_counting while_until_large map_over_rows"
        " scan_over_rows scan_in_reverse",
        pytorchs=True,
    ),
    ExpectedFailure(
        "flex_attention takes no tensors of the lazy device, and on the CPU none while a dispatch mode is open",
        (ValueError, RuntimeError),
        "lazy",
        "flex_attention flex_attention_varying flex_attention_relative flex_attention_counting"
        " flex_attention_grouped flex_attention_bf16",
        pytorchs=True,
    ),
    ExpectedFailure(
        "the program makes a tensor on the CPU and mixes it with those of the lazy device",
        RuntimeError,
        "lazy",
        "prims_iota state",
        pytorchs=True,
    ),
    ExpectedFailure(
        "PyTorch's functionalization takes no views but ATen's",
        RuntimeError,
        "lazy",
        "prims_of_movement",
        pytorchs=True,
    ),
    ExpectedFailure(
        "PyTorch takes the places to split at from the CPU",
        RuntimeError,
        "lazy",
        "sized_tensor_split",
        pytorchs=True,
    ),
    ExpectedFailure(
        "tensors of the lazy device have no strides",
        CaptureError,
        "lazy",
        "as_strided_of_alias as_strided_of_alias_from_its_start as_strided_of_detach"
        " as_strided_of_detach_from_its_start as_strided_of_slice as_strided_of_slice_from_its_start"
        " as_strided_of_transposed as_strided_of_transposed_from_its_start as_strided_of_expanded"
        " as_strided_of_expanded_from_its_start as_strided_of_nested as_strided_of_nested_from_its_start"
        " as_strided_of_split as_strided_of_split_from_its_start as_strided_of_unbound"
        " as_strided_of_unbound_from_its_start as_strided_of_reshaped as_strided_of_reshaped_from_its_start"
        " as_strided_of_reshaped_copy as_strided_of_reshaped_copy_from_its_start"
        " as_strided_of_sum_of_transposed as_strided_of_sum_of_transposed_from_its_start"
        " as_strided_of_clone_of_transposed as_strided_of_clone_of_transposed_from_its_start"
        " as_strided_of_contiguous as_strided_of_contiguous_from_its_start as_strided_of_strided"
        " as_strided_of_strided_from_its_start as_strided_of_unsafe_view"
        " as_strided_of_unsafe_view_from_its_start as_strided_dynamic as_strided_from_a_size"
        " as_strided_after_a_write_through_a_view as_strided_after_a_write_of_the_base as_strided_written"
        " as_strided_scatter_of_transposed resize scatters_of_another_dtype",
    ),
]
