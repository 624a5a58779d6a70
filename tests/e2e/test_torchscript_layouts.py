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


def copied(x: Tensor) -> Tensor:
    y = x.t().contiguous()
    assert y.is_contiguous()
    return x * y.stride(0) + (1 if x.t().is_contiguous() else 0)


def cloned(x: Tensor) -> Tensor:
    y = x.t().clone(memory_format=torch.contiguous_format)
    y.add_(1)
    return y * y.stride(0)


def ordered(x: Tensor) -> Tensor:
    y = x.sort(1)[0]
    if y.is_contiguous():
        return y * 2
    return y


def chosen(x: Tensor) -> Tensor:
    y = x[x > 0.0]
    return y * 2 if y.is_contiguous() else y


def written(x: Tensor) -> Tensor:
    y = torch.zeros(6, 3).t()
    y[:] = x
    return y * y.stride(0)


def convolved(x: Tensor) -> Tensor:
    image = x.reshape(1, 3, 2, 3).contiguous(memory_format=torch.channels_last)
    y = F.conv2d(image, torch.ones(2, 3, 1, 1))
    return y * y.stride(1)


def harmless(x: Tensor) -> Tensor:
    if not x.is_contiguous():
        x = x.contiguous()
    return x.view(-1) * 2


PROGRAMS = [
    *(branch, strides, listed, offset, expanded, inside, harmless),
    *(copied, cloned, ordered, chosen, written, convolved),
]
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
        if each == example or program in (harmless, written):
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


def test_an_argument_that_varies_is_contiguous_in_every_call() -> None:
    script: Any = torch.jit.script(harmless_of_varying)
    compiled = torch2mlir.compile(
        script, torch.randn(3, 6), dynamic_shapes=({0: Dim.AUTO},), output_type="onnx"
    )
    for rows in (3, 5, 4):
        x = torch.randn(rows, 6)
        assert_close(compiled(x), script(x))
    with pytest.raises(InputError, match="asks how it lies in memory"):
        compiled(torch.randn(6, 5).t())


def harmless_of_varying(x: Tensor) -> Tensor:
    assert x.is_contiguous()
    return x * 2 if x.t().contiguous().is_contiguous() else x


class Buffered(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(6, 3).t())

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if self.table.is_contiguous() else x * self.table.stride(1)


def test_buffers_have_their_strides() -> None:
    model = Buffered()
    compiled = torch2mlir.compile(torch.jit.script(model), torch.randn(3), output_type="onnx")
    for _ in range(3):
        x = torch.randn(3)
        assert_close(compiled(x), model(x))


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
