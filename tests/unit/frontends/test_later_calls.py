"""What calls leave to Python: refused where a later call computes something else for it, a warning where nobody has it."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch import Tensor, nn

import torch2mlir
from torch2mlir.errors import CaptureError, Torch2MLIRError

TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}


class Leaving(nn.Module):
    """Has a number, a tensor and a list that are no buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.kept = torch.tensor(torch.inf)
        self.seen = list[Tensor]()


class Least(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.kept = torch.minimum(self.kept, x.min())
        return x - self.kept


class AfterFour(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x * 2 if self.count > 4 else x


class AfterThousand(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x * min(1.0, max(0.5, self.count / 2000))


class EveryHundredth(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        return x if self.count % 100 else x * 2


class OfFourBefore(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.sum())
        return x + self.seen[-5] if len(self.seen) > 4 else x


class Places(Leaving):
    """The results are the same, a tensor that is written to is not."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = torch.zeros(3)

    def forward(self, x: Tensor) -> Tensor:
        self.count = (self.count + 1) % 3
        self.kept[self.count] = x.sum()
        return x * 2


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (Least, "'kept'"),
        (AfterFour, "'count'"),
        (AfterThousand, "'count'"),
        (EveryHundredth, "'count'"),
        (OfFourBefore, "'seen'"),
        (Places, "'count'"),
    ],
)
def test_what_a_much_later_call_reads_is_refused(make: type[Leaving], named: str) -> None:
    model = make()
    before = copy.deepcopy(model)
    with pytest.raises(CaptureError, match=named):
        torch2mlir.compile(model, torch.rand(4), **TARGET)
    assert (model.count, model.seen) == (0, [])
    for _ in range(3):
        x = torch.rand(4)
        torch.testing.assert_close(model(x), before(x))


class Fails(Leaving):
    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        if self.count > 5:
            raise RuntimeError("no more than five")
        return x * 2


def test_a_later_call_that_fails() -> None:
    with pytest.raises(CaptureError, match="'count'"):
        torch2mlir.compile(Fails(), torch.zeros(4), **TARGET)


class Mean(Leaving):
    """Of all calls; that of zeros says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        self.kept = self.kept + (x.mean() - self.kept) / 2
        return x - self.kept


def test_an_example_of_zeros() -> None:
    with pytest.raises(CaptureError, match="'kept'"):
        torch2mlir.compile(Mean(), torch.zeros(4), **TARGET)


class OfOneKind(Leaving):
    """Takes nothing but ones."""

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        if not torch.compiler.is_compiling() and not bool((x == 1).all()):
            raise ValueError("ones")
        return x * 2 if self.count > 6 else x


def test_a_model_that_takes_the_example_only() -> None:
    with pytest.raises(CaptureError, match="'count'"):
        torch2mlir.compile(OfOneKind(), torch.ones(4), **TARGET)


@pytest.mark.parametrize("make", [Least, AfterFour, OfFourBefore, Places])
def test_optimize_goes_on(make: type[Leaving]) -> None:
    eager, ours = make(), torch2mlir.optimize(make(), model_inputs=(torch.rand(4),))
    for _ in range(7):
        x = torch.rand(4)
        torch.testing.assert_close(ours(x), eager(x))


class ForTheReader(Leaving):
    """Nothing of it makes a difference to a call."""

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        self.kept = x.sum()
        self.seen.append(x.sum())
        return x * 2


class Average(Leaving):
    def __init__(self) -> None:
        super().__init__()
        self.kept = torch.zeros(())

    def forward(self, x: Tensor) -> Tensor:
        self.kept = 0.9 * self.kept + 0.1 * x.mean()
        return x * 2


@pytest.mark.parametrize(
    ("make", "named"), [(ForTheReader, "'count', 'kept', 'seen'"), (Average, "'kept'")]
)
def test_what_nobody_finds_is_said(make: type[Leaving], named: str) -> None:
    model = make()
    with pytest.warns(UserWarning, match=f"sets {named} anew") as told:
        ours = torch2mlir.compile(model, torch.rand(4), **TARGET)
    assert told[0].filename == __file__
    for _ in range(3):
        x = torch.rand(4)
        torch.testing.assert_close(ours(x), make()(x))


class FilledOnce(Leaving):
    """A table for the longest input so far, and a mask that is made again."""

    def forward(self, x: Tensor) -> Tensor:
        if self.count < len(x):
            self.count = len(x)
            self.kept = torch.arange(float(len(x)))
        self.mask = torch.ones(4)
        return x * self.kept * self.mask


def test_a_table_that_is_filled_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ours = torch2mlir.compile(FilledOnce(), torch.rand(4), **TARGET)
    for _ in range(3):
        x = torch.rand(4)
        torch.testing.assert_close(ours(x), FilledOnce()(x))


def test_kernels_of_others_get_no_made_up_elements() -> None:
    """One of torchvision's ends the process at a box of NaN; without such an op, far elements are tried."""
    seen = list[Tensor]()

    @torch.library.custom_op("test_later_calls::boxes", mutates_args=(), device_types="cpu")
    def boxes(x: Tensor) -> Tensor:
        seen.append(x.clone())
        return x * 2

    @boxes.register_fake
    def _(x: Tensor) -> Tensor:
        return torch.empty_like(x)

    class Anchors(Leaving):
        def forward(self, x: Tensor) -> Tensor:
            self.seen = [torch.ones(2).to(x.dtype)]
            return boxes(x)

    with warnings.catch_warnings(), pytest.raises(Torch2MLIRError):
        warnings.simplefilter("ignore")
        torch2mlir.compile(Anchors(), torch.rand(3), output_type="onnx", engine="onnxruntime")
    assert seen
    assert all(x.isfinite().all() and x.abs().max() <= 10 for x in seen)
