"""TorchScript programs of unknown sizes that compute with sizes: right, or refused.

The lengths of slices between positions that other sizes decide were those of example sizes, which TorchScript has none
of: ``x[:n]`` was all of ``x``, on every dialect. Kernels that take an integer fixed a size at its example.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.e2e.configurations import TARGETS, require
from torch2mlir import torchscript
from torch2mlir.errors import BackendContractError, InputError, Torch2MLIRError


def the_last(x: Tensor, y: Tensor) -> Tensor:
    return x[-y.size(0) :]


def all_but_the_last(x: Tensor, y: Tensor) -> Tensor:
    return x[: -y.size(0)]


def starting_there(x: Tensor, y: Tensor) -> Tensor:
    return x[y.size(0) :]


def until_there(x: Tensor, y: Tensor) -> Tensor:
    return x[: y.size(0)]


def between(x: Tensor, y: Tensor) -> Tensor:
    return x[y.size(0) : -y.size(0)]


def one_from_the_end(x: Tensor, y: Tensor) -> Tensor:
    return x.select(0, -y.size(0))


def one_before(x: Tensor, y: Tensor) -> Tensor:
    return x[y.size(0) - 1]


def the_last_four(x: Tensor, y: Tensor) -> Tensor:
    return x[-4:]


def every_other(x: Tensor, y: Tensor) -> Tensor:
    return x[1::2]


SLICES = [
    the_last,
    all_but_the_last,
    starting_there,
    until_there,
    between,
    one_from_the_end,
    one_before,
    the_last_four,
    every_other,
]
SIZES = [(9, 4), (8, 3), (8, 1), (8, 0), (3, 0), (3, 5), (3, 7), (4, 4), (0, 0), (0, 2), (2, 1)]


@pytest.mark.share(12)
@pytest.mark.parametrize("target, function", product(TARGETS, SLICES))
def test_right_or_refused(
    target: tuple[str, str], function: Callable[[Tensor, Tensor], Tensor]
) -> None:
    output_type, engine = target
    require(engine)
    rows = torchscript.TensorPlaceholder([-1, 3], torch.float32)
    program = torchscript.capture(torch.jit.script(function), [rows, rows])
    compiled = torch2mlir.compile(program, output_type=output_type, engine=engine)
    for sizes in SIZES:
        x, y = (torch.randn(size, 3) for size in sizes)
        try:
            expected = function(x, y)
        except IndexError:  # no such place
            with pytest.raises(InputError):
                compiled(x, y)
            continue
        try:
            torch.testing.assert_close(compiled(x, y), expected, rtol=0, atol=0)
        except InputError:
            assert sizes[0] < 4 or sizes[0] <= 2 * sizes[1] or not sizes[1], sizes


def _written(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    z[: y.size(0)] = 1.5
    return z


def _written_as_far_as_it_goes(x: Tensor, y: Tensor) -> Tensor:
    z = torch.zeros_like(x)
    z[:, -(y.size(0) - 1) : -(y.size(0) - 1) + 1] = x[:, :1]
    return z


def _row_replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.select_scatter(x, x[0], 0, y.size(0) % 3)


def _part_replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.slice_scatter(x, y, 0, 0, y.size(0))


def _replaced_by_selected(x: Tensor, y: Tensor) -> Tensor:
    kept = y[:, 0][y[:, 0] > 0]
    return torch.slice_scatter(x[:, 0], kept, 0, 0, kept.size(0))


def _squeezed(x: Tensor, y: Tensor) -> Tensor:
    return x[1::3].squeeze() * 2


def _padded_and_squeezed(x: Tensor, y: Tensor) -> Tensor:
    return F.pad(x.t(), [1, 0]).squeeze() * 2


def _reflected(x: Tensor, y: Tensor) -> Tensor:
    return F.pad(x.t(), [2, 2], mode="reflect")


def _around(x: Tensor, y: Tensor) -> Tensor:
    return F.pad(x.t(), [3, 0], mode="circular")


def _windows(x: Tensor, y: Tensor) -> Tensor:
    return x.unfold(0, 2, 1) * 2


def _second_half(x: Tensor, y: Tensor) -> Tensor:
    return x.chunk(2)[-1] * 2


def _first_of_two(x: Tensor, y: Tensor) -> Tensor:
    return x.t().split(x.size(0) // 2)[0] * 2


def _third(x: Tensor, y: Tensor) -> Tensor:
    return x.tensor_split(3)[1] * 2


def _counted(x: Tensor, y: Tensor) -> Tensor:
    return torch.arange(y.size(0), x.size(0)) * 2


def _one_place(x: Tensor, y: Tensor) -> Tensor:
    return x[:1][y.size(0) : y.size(0) + 1].cumsum(0)


def _length(x: Tensor, y: Tensor) -> Tensor:
    return x * len(x) + len(y)


NEEDING = [
    _written,
    _written_as_far_as_it_goes,
    _row_replaced,
    _part_replaced,
    _replaced_by_selected,
    _squeezed,
    _padded_and_squeezed,
    _reflected,
    _around,
    _windows,
    _second_half,
    _first_of_two,
    _third,
    _counted,
    _one_place,
    _length,
]


REFUSED = {_first_of_two, _third}
"""For lack of examples that suit them, or because sizes decide what they are."""


@pytest.mark.share(6)
@pytest.mark.parametrize("function", NEEDING)
def test_what_ops_need(function: Callable[[Tensor, Tensor], Tensor]) -> None:
    """What kernels found out at example sizes was taken for all: writes went to other places, 1 was not squeezed."""
    rows = torchscript.TensorPlaceholder([-1, 3], torch.float32)
    try:
        program = torchscript.capture(torch.jit.script(function), [rows, rows])
        compiled = torch2mlir.compile(program, output_type="linalg-on-tensors", engine="reference")
    except BackendContractError as refused:
        assert function in REFUSED, refused
        return
    right = 0
    for sizes in SIZES:
        x, y = (torch.randn(size, 3) for size in sizes)
        try:
            expected = function(x, y)
        except (RuntimeError, IndexError):
            with pytest.raises(Torch2MLIRError):
                compiled(x, y)
            continue
        with suppress(InputError):
            torch.testing.assert_close(compiled(x, y), expected)
            right += 1
    assert right or function is _written_as_far_as_it_goes  # it fits for two sizes only


def test_a_split_into_unknown_many_is_refused() -> None:
    """How many parts there are follows from the sizes; for the examples there was one, which is all of ``x``."""

    def first(x: Tensor, y: Tensor) -> Tensor:
        return x.split(y.size(0), 0)[0]

    rows = torchscript.TensorPlaceholder([-1, 3], torch.float32)
    with pytest.raises(BackendContractError, match="depends on its sizes"):
        torchscript.capture(torch.jit.script(first), [rows, rows])


def test_a_line_of_one_step() -> None:
    """PyTorch's kernel fixes the number of steps; its formula is another one for one step, and asks in a call too."""

    def line(x: Tensor) -> Tensor:
        return torch.linspace(0, 1, x.size(0)) + x

    numbers = torchscript.TensorPlaceholder([-1], torch.float32)
    program = torchscript.capture(torch.jit.script(line), [numbers])
    compiled = torch2mlir.compile(program, output_type="linalg-on-tensors")
    for size in (5, 2, 0):
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x), line(x))
    with pytest.raises(InputError, match="something else for such sizes"):
        compiled(torch.randn(1))


@pytest.mark.parametrize("output_type, engine", TARGETS)
@pytest.mark.share(2)
def test_a_table_as_long_as_the_longest_line(output_type: str, engine: str) -> None:
    require(engine)

    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Buffer(torch.randn(1, 16, 4))

        def forward(self, x: Tensor) -> Tensor:
            return x + self.table[:, : x.size(1)]

    model = Positions()
    lines = torchscript.TensorPlaceholder([2, -1, 4], torch.float32)
    program = torchscript.capture(torch.jit.script(model), [lines])
    compiled = torch2mlir.compile(program, output_type=output_type, engine=engine)
    for size in (5, 7, 1, 16, 0):
        x = torch.randn(2, size, 4)
        torch.testing.assert_close(compiled(x), model(x))
    with pytest.raises(InputError):
        compiled(torch.randn(2, 17, 4))


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize(("output_type", "engine"), [("onnx", "onnxruntime"), ("tosa", "iree")])
@pytest.mark.share(4)
def test_recurrent_layers(layer: type[nn.RNNBase], output_type: str, engine: str) -> None:
    """They compare the sizes of their state with those that they expect, lists of expressions."""
    model = torch.jit.script(nn.Sequential(layer(4, 5)))
    batch = torchscript.TensorPlaceholder.like(torch.randn(2, 3, 4), dynamic_axes=[1])
    compiled = torch2mlir.compile(
        torchscript.capture(model, [batch]), output_type=output_type, engine=engine
    )
    for rows in (3, 5, 1):
        x = torch.randn(2, rows, 4)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x))


@pytest.mark.parametrize("how", ["script", "frozen", "trace"])
@pytest.mark.share(3)
def test_windows_of_convolutions(how: str) -> None:
    """Layers were looked at with pictures smaller than their windows, and refused."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1, dilation=2))
    model = model.eval().requires_grad_(False)
    example = torch.randn(1, 3, 16, 16)
    script = torch.jit.trace(model, example) if how == "trace" else torch.jit.script(model)
    if how == "frozen":
        script = torch.jit.freeze(script)
    sizes = ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},)
    ours = torch2mlir.compile(script, example, output_type="onnx", dynamic_shapes=sizes)
    for shape in ((2, 3, 20, 11), (1, 3, 5, 5), (3, 3, 7, 30)):
        x = torch.randn(shape)
        torch.testing.assert_close(ours(x), model(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(Torch2MLIRError, match="does something else for such sizes|range"):
        ours(torch.randn(1, 3, 4, 9))
