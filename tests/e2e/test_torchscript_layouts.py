"""TorchScript programs that ask how a tensor lies in memory: they were told that every tensor is contiguous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim
from torch.nn import functional as F
from torch.testing import assert_close

import torch2mlir
from torch2mlir.errors import CaptureError, InputError


def branch(x: Tensor) -> Tensor:
    if x.t().is_contiguous():
        return x * 2
    return x + 1


def strides(x: Tensor) -> Tensor:
    return x * x.t().stride(0) + x[:, ::2].stride(1) + (x * 2).stride(0)


def listed(x: Tensor) -> Tensor:
    s = (x.t() + 1).stride()
    return x * s[0] + s[1]


def offset(x: Tensor) -> Tensor:
    return x * x[1:].storage_offset()


def expanded(x: Tensor) -> Tensor:
    return x + x.expand(3, 3, 6).stride(0)


def inside(x: Tensor) -> Tensor:
    y = x
    if bool(x.sum() > 0):
        y = x * 2
        if x.t().is_contiguous():
            y = x * 3
    return y


def harmless(x: Tensor) -> Tensor:
    if not x.is_contiguous():
        x = x.contiguous()
    return x.view(-1) * 2


PROGRAMS = [branch, strides, listed, offset, expanded, inside, harmless]
EXAMPLES: dict[str, Callable[[], Tensor]] = {
    "rows": lambda: torch.rand(3, 6),
    "columns": lambda: torch.rand(6, 3).t(),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("example", EXAMPLES)
def test_strides_are_the_tensors_own(program: Callable[[Tensor], Tensor], example: str) -> None:
    script: Any = torch.jit.script(program)
    compiled = torch2mlir.compile(script, EXAMPLES[example](), output_type="onnx")
    for each, make in EXAMPLES.items():
        x = make()
        if each == example or program is harmless:
            assert_close(compiled(x), script(x))
            assert_close(compiled(x * 1), script(x * 1))
        else:
            with pytest.raises(InputError, match="asks how it lies in memory"):
                compiled(x)


def test_what_nobody_knows_is_refused() -> None:
    script: Any = torch.jit.script(strides)
    with pytest.raises(CaptureError, match="asks how a tensor lies in memory"):
        torch2mlir.compile(
            script, torch.randn(3, 6), dynamic_shapes=({0: Dim.AUTO},), output_type="onnx"
        )


def padded(x: Tensor) -> Tensor:
    return F.pad(x, [0, -x.shape[0] % 4])


def tensor_of_sizes(x: Tensor) -> Tensor:
    return torch.tensor([x.size(0), 2]) * 2


@pytest.mark.parametrize("program", [padded, tensor_of_sizes], ids=lambda each: each.__name__)
@pytest.mark.parametrize("is_scripted", [False, True])
def test_numbers_of_sizes(program: Callable[[Tensor], Tensor], is_scripted: bool) -> None:
    """A remainder of what is negative, and sizes in ``torch.tensor``, raised errors of Python's."""
    model: Any = torch.jit.script(program) if is_scripted else program
    if program is tensor_of_sizes and not is_scripted:
        pytest.skip("PyTorch fixes such sizes")
    compiled = torch2mlir.compile(
        model, torch.randn(3), dynamic_shapes=({0: Dim.AUTO},), output_type="onnx"
    )
    for size in (3, 4, 5, 8):
        x = torch.randn(size)
        assert_close(compiled(x), program(x))
