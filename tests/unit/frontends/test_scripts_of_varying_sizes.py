"""``dynamic_shapes`` and keyword arguments of TorchScript programs, which ``compile`` takes as of any model."""

from __future__ import annotations

from typing import Any, Optional

import numpy
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.testing import assert_close

import torch2mlir
from torch2mlir.errors import CaptureError, InputError


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm1d(4)
        self.recurrent = nn.LSTM(4, 8, batch_first=True)

    def forward(
        self,
        x: Tensor,
        mask: Optional[Tensor] = None,  # noqa: UP045
        scale: float = 1.0,
    ) -> tuple[Tensor, Tensor]:
        y = self.recurrent(self.norm(self.convolution(x)).transpose(1, 2))[0]
        if mask is not None:
            y = y * mask.unsqueeze(-1)
        return y * scale, y.mean(1)


def _example(batch: int = 2, length: int = 7) -> tuple[Tensor, Tensor]:
    return torch.randn(batch, 4, length), torch.rand(batch, length)


def _script() -> Any:
    torch.manual_seed(0)
    return torch.jit.script(Encoder().eval())


BATCH, LENGTH = Dim("batch", max=16), Dim("length", min=2, max=50)
SAID: dict[str, Any] = {
    "by position": ({0: BATCH, 2: LENGTH}, {0: BATCH, 1: LENGTH}),
    "by name": {"x": {0: BATCH, 2: LENGTH}, "mask": {0: BATCH, 1: LENGTH}},
    "each dimension": {"x": (BATCH, None, LENGTH), "mask": [BATCH, LENGTH]},
    "from the end": {"x": {0: BATCH, 1: 4, -1: LENGTH}, "mask": {0: BATCH, -1: LENGTH}},
    "automatic": {"x": {0: Dim.AUTO, 1: Dim.STATIC, 2: Dim.AUTO}, "mask": (Dim.AUTO, Dim.DYNAMIC)},
}


@pytest.mark.share(9)
@torch.no_grad()
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "onnx"])
def test_sizes_vary(said: str, traced: bool, output_type: str) -> None:
    script: Any = _script()
    if traced:
        script = torch.jit.trace(Encoder().eval(), _example())
    compiled = torch2mlir.compile(
        script, *_example(), dynamic_shapes=SAID[said], output_type=output_type
    )
    for batch, length in ((2, 7), (1, 2), (5, 9), (16, 50)):
        x, mask = _example(batch, length)
        assert_close(compiled(x, mask), script(x, mask), rtol=1e-4, atol=1e-5)
        if not traced:
            assert_close(compiled(mask=mask, x=x), script(mask=mask, x=x), rtol=1e-4, atol=1e-5)
    if said != "automatic":
        with pytest.raises(InputError, match="size 'batch' in dimension 0 of input 'x' is 17"):
            compiled(*_example(17, 7))
    with pytest.raises(InputError):
        compiled(_example(2, 7)[0], _example(3, 7)[1])


@torch.no_grad()
def test_arguments_by_name() -> None:
    script, (x, mask) = _script(), _example()
    compiled = torch2mlir.compile(script, x, mask=mask, scale=2.0, output_type="stablehlo")
    assert_close(compiled(x, mask, 2.0), script(x, mask, 2.0), rtol=1e-4, atol=1e-5)
    assert_close(compiled(scale=2.0, mask=mask, x=x), script(x, mask, 2.0), rtol=1e-4, atol=1e-5)


def numbers(x: Tensor, factor: float, count: int, adds: bool) -> Tensor:
    return x * factor + count if adds else x / factor


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa", "onnx"])
def test_numbers_are_what_torchscript_takes(output_type: str) -> None:
    """Floats were f32 where every dialect has f64."""
    script, x = torch.jit.script(numbers), torch.arange(3.0)
    compiled = torch2mlir.compile(script, x, 2.5, 3, True, output_type=output_type)
    for args in ((2.5, 3, True), (0.1, -2, False), (2, True, 1), (torch.tensor(0.5), 1, True)):
        assert_close(compiled(x, *args), script(x, *args))

    assert_close(compiled(x, 2.5, numpy.int64(3), True), script(x, 2.5, 3, True))
    assert_close(compiled(x, 2.5, torch.tensor([3]), True), script(x, 2.5, 3, True))
    for wrong, kind in (
        ((2.5, 3.0, True), "int"),
        (("a", 3, True), "float"),
        ((1.0, 3, None), "bool"),
    ):
        with pytest.raises(InputError, match=f"should be a Python {kind}"):
            compiled(x, *wrong)


def test_the_example_is_a_call() -> None:
    """A trace has sizes in it; what it was traced with was refused by what had been compiled from it."""
    traced = torch.jit.trace(lambda x: x.view(3, -1) * 2, torch.randn(3, 4), check_trace=False)
    with pytest.raises(CaptureError, match="not for its example"):
        torch2mlir.compile(traced, torch.randn(3, 4), dynamic_shapes={"x": {0: Dim.AUTO}})


X, MASK = _example()
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], Any, str]] = {
    "an argument left out": ((X,), {"scale": 2.0}, None, "'scale' does not follow the 1 given"),
    "an unknown argument": ((X,), {"masks": MASK}, None, "'masks' does not follow the 1 given"),
    "too few entries": ((X, MASK), {}, ({0: BATCH},), "an entry for each of its 2 arguments"),
    "an unknown name": ((X, MASK), {}, {"y": {0: BATCH}}, "names 'y', which is none"),
    "no dimension": ((X, MASK), {}, ({3: BATCH}, None), "the dimension 3 of 'x', which has 3"),
    "a derived size": ((X, MASK), {}, ({0: 2 * BATCH}, None), "are no expressions of others"),
    "out of range": ((X, MASK), {}, ({0: Dim("one", max=1)}, None), "is 2, and 'one' from 0 to 1"),
    "another number": ((X, MASK), {}, ({0: 3}, None), "is 2, and dynamic_shapes says 3"),
    "two sizes": ((X, MASK), {}, ({0: BATCH, 2: BATCH}, None), "is 7, and 'batch' is 2 elsewhere"),
    "no tensor": ((X, MASK, 2.0), {}, (None, None, {0: BATCH}), "of the argument 'scale', a float"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str) -> None:
    args, kwargs, said, message = WRONG[name]
    with pytest.raises(CaptureError) as caught:
        torch2mlir.compile(_script(), *args, dynamic_shapes=said, **kwargs)
    assert message in str(caught.value)
