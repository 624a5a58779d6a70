"""What a program needs of sizes that vary: right for every size, captured again, or refused as eager PyTorch refuses it.

PyTorch traces a program at example sizes and as if none were below 2. What it found there and did not say was wrong in
silence elsewhere: a size that is 1 in another call was not squeezed, was not repeated, and ``if x.shape[0] == 0`` was not there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.e2e.configurations import TARGETS, require
from torch2mlir.errors import (
    BackendContractError,
    CaptureError,
    InputError,
    Torch2MLIRError,
)

THREE = torch.arange(3.0)
ROWS = [(3, 7), (3, 9), (3, 6), (3, 5), (3, 4), (1, 8), (0, 6)]
OF_OPS: dict[str, Callable[[Tensor], Tensor]] = {
    "a size that is 1 elsewhere is squeezed": lambda x: x[:, 4::2].squeeze() * 2,
    "a named size that is 1 elsewhere": lambda x: x[:, 4::2].squeeze(1) * 2,
    "a size that is 1 for nothing": lambda x: F.pad(x, [1, 0]).squeeze() * 2,
    "a size that is repeated elsewhere": lambda x: x[:, 4::2] + torch.arange(2),
    "parts": lambda x: x.chunk(2, 1)[-1] * 2,
    "windows": lambda x: x.unfold(1, 3, 2) * 2,
    "reflected": lambda x: F.pad(x, [2, 2], mode="reflect"),
    "around": lambda x: F.pad(x[None], [3, 0], mode="circular"),
    "read by strides": lambda x: x.as_strided([2, 2], [1, 14]) * 2,
    "counted": lambda x: torch.arange(2, x.shape[0]) * 2,
}
OF_SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "the shape of windows": lambda x: x[:, :1] * x.unfold(0, 2, 2).shape[0],
    "the shape of windows of a part": lambda x: x[:, :1] * x[1:].unfold(0, 2, 2).shape[0],
    "the shape of a part": lambda x: x[:, :1] * x.narrow(0, 1, 2).shape[0],
    "the shape of all but the first": lambda x: x[:, :1] * x[-(x.shape[0] - 1) :].shape[0],
    "the shape of the largest": lambda x: x[:, :1] * x.topk(2, 0).values.shape[0],
}
OF_NUMBERS: dict[str, Callable[[Tensor], Tensor]] = {
    "is it empty": lambda x: THREE if x.shape[0] == 0 else THREE + 1,
    "is it not empty": lambda x: THREE if x.shape[0] else THREE + 1,
    "has it one": lambda x: THREE if x.shape[0] >= 1 else THREE + 1,
    "how many elements": lambda x: THREE if x.numel() == 0 else THREE + 1,
    "a difference": lambda x: THREE * abs(x.shape[0] - 1),
    "the larger": lambda x: THREE * max(x.shape[0] - 1, 0),
    "PyTorch's larger": lambda x: THREE * torch.sym_max(x.shape[0] - 1, 0),
    "a quotient": lambda x: THREE * (12 // x.shape[0]),
    "a remainder": lambda x: THREE * (12 % x.shape[0]),
    "a fraction": lambda x: THREE * (12 / x.shape[0]),
    "itself by itself": lambda x: THREE * ((x.shape[0] * 2) // x.shape[0]),
}


def compiled(function: Callable[..., Tensor], target: tuple[str, str], *examples: Tensor) -> object:
    """The function for all sizes."""

    class Model(nn.Module):
        def forward(self, *given: Tensor) -> Tensor:
            return function(*given)

    output_type, engine = target
    require(engine)
    shapes = tuple(dict.fromkeys(range(x.dim()), Dim.AUTO) for x in examples)
    return torch2mlir.compile(
        Model(), *examples, output_type=output_type, engine=engine, dynamic_shapes=(shapes,)
    )


def assert_as_eager(ours: object, function: Callable[..., Tensor], *given: Tensor) -> None:
    """What eager mode makes of the arguments, or an error where it raises one."""
    try:
        expected = function(*given)
    except Exception:
        with pytest.raises(Torch2MLIRError):
            ours(*given)  # type: ignore[operator]
        return
    found = ours(*given)  # type: ignore[operator]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("target, name", product(TARGETS, OF_OPS))
@pytest.mark.share(36)
def test_of_ops(target: tuple[str, str], name: str) -> None:
    function = OF_OPS[name]
    ours = compiled(function, target, torch.randn(*ROWS[0]))
    for sizes in [*ROWS[1:], ROWS[0]]:
        assert_as_eager(ours, function, torch.randn(*sizes))


@pytest.mark.share(12)
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_of_numbers(name: str) -> None:
    """Capture answers them: one dialect will do."""
    function = OF_NUMBERS[name]
    ours = compiled(function, ("linalg-on-tensors", "iree"), torch.randn(3, 7))
    for rows in (4, 0, 1, 2, 3):
        assert_as_eager(ours, function, torch.randn(rows, 7))


@pytest.mark.share(8)
@pytest.mark.parametrize("name", OF_SHAPES)
def test_of_what_nobody_reads(name: str) -> None:
    """The op has gone before any dialect sees it: one will do."""
    function = OF_SHAPES[name]
    ours = compiled(function, ("linalg-on-tensors", "iree"), torch.randn(*ROWS[0]))
    for sizes in [*ROWS[1:], ROWS[0]]:
        assert_as_eager(ours, function, torch.randn(*sizes))


EVEN: dict[str, tuple[Callable[[Tensor], Tensor], list[tuple[int, ...]]]] = {
    "glu": (lambda x: F.glu(x, 1), [(4, 6), (8, 2), (3, 3)]),
    "pixel_unshuffle": (
        lambda x: F.pixel_unshuffle(x, 2),
        [(2, 3, 4, 6), (1, 3, 8, 2), (2, 3, 5, 6)],
    ),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), [(2, 4, 4, 6), (1, 8, 3, 2)]),
    "unflatten": (lambda x: x.unflatten(1, (-1, 2)), [(4, 6), (8, 2), (3, 3)]),
    "rows of two": (lambda x: x.reshape(-1, 2), [(4, 6), (8, 2), (3, 3), (1, 2)]),
    "two rows": (lambda x: x.reshape(2, -1), [(4, 6), (8, 3), (3, 3), (1, 2)]),
    "halves": (lambda x: torch.cat(x.chunk(2, 1)), [(4, 6), (8, 2), (3, 3)]),
}


@pytest.mark.parametrize(
    "name, target",
    # one target will do for the slow one, for the rule is everybody's
    [
        pytest.param("pixel_unshuffle", TARGETS[0], marks=pytest.mark.full("of six dimensions")),
        *((n, t) for n in EVEN for t in TARGETS if n != "pixel_unshuffle"),
    ],
)
@pytest.mark.share(32)
def test_sizes_that_something_divides(target: tuple[str, str], name: str) -> None:
    """The examples that an op was looked at with were primes, and ``glu`` of a size that varies was refused."""
    function, calls = EVEN[name]
    ours = compiled(function, target, torch.randn(*calls[0]))
    for sizes in [*calls[1:], calls[0]]:
        assert_as_eager(ours, function, torch.randn(*sizes))


OF_OTHERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "rows of another": lambda x, y: x.reshape(y.shape[0], -1, 2) * 2,
    "rows of both": lambda x, y: x.view(x.shape[1] * y.shape[0], -1, 2) * 2,
    "groups": lambda x, y: x.flatten(0, 1).unflatten(0, (y.shape[0], -1)) * 2,
}
OF_TWO = [((6, 4, 2), 3), ((4, 8, 2), 2), ((8, 3, 2), 4), ((6, 5, 2), 5), ((5, 3, 2), 4)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", OF_OTHERS)
@pytest.mark.share(16)
def test_sizes_that_another_divides(target: tuple[str, str], name: str) -> None:
    """Attention over frames has ``x.reshape(batch, -1, heads)`` of another tensor's batch, and was refused."""
    function = OF_OTHERS[name]
    ours = compiled(function, target, torch.randn(OF_TWO[0][0]), torch.randn(OF_TWO[0][1]))
    for sizes, other in [*OF_TWO[1:], OF_TWO[0]]:
        assert_as_eager(ours, function, torch.randn(sizes), torch.randn(other))


@pytest.mark.share(4)
@pytest.mark.parametrize("name", OF_OTHERS)
def test_clusters_of_sizes_that_another_divides(name: str) -> None:
    function = OF_OTHERS[name]
    ours = torch2mlir.optimize(lambda x, y: function(x.exp(), y))
    for sizes, other in [*OF_TWO[:-2], OF_TWO[0]]:
        x, y = torch.randn(sizes), torch.randn(other)
        torch.testing.assert_close(ours(x, y), function(x.exp(), y))
    report = ours.report()
    assert not report.pytorch_ops
    assert "vary" in str(report)


def _kept(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return x[x > 0], y.clone()


def _written(x: Tensor, y: Tensor) -> Tensor:
    kept, z = _kept(x, y)
    z[: kept.shape[0]] = kept
    return z


def _written_last(x: Tensor, y: Tensor) -> Tensor:
    kept, z = _kept(x, y)
    z[-kept.shape[0] :] = kept
    return z


def _all_but_all(x: Tensor, y: Tensor) -> Tensor:
    kept, _ = _kept(x, y)
    z = kept * 1
    z[: -kept.shape[0]] += 1
    return z


OF_ELEMENTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "written": _written,
    "written last": _written_last,
    "nothing written": _all_but_all,
    "the place behind": lambda x, y: y[x[x > 0].shape[0]] * 2,
    "so many": lambda x, y: y.narrow(0, 0, x[x > 0].shape[0]) * 2,
    "so many from the second": lambda x, y: y.narrow(0, 1, x[x > 0].shape[0]) * 2,
    "in as many parts": lambda x, y: y.view(x[x > 0].shape[0], -1) * 2,
    "in two parts": lambda x, y: (x[x > 0] * 2).view(2, -1),
    "padded": lambda x, y: F.pad(x[x > 0], [0, y.shape[0] - x[x > 0].shape[0]]),
    "a product": lambda x, y: x[x > 0] @ y[y > 0],
    "until there": lambda x, y: y[: x[x > 0].shape[0]] * 2,
    "from there": lambda x, y: y[x[x > 0].shape[0] :] * 2,
}
REFUSED_AT_CALLS = ("nothing written",)  # PyTorch's capture takes the end for one behind the start
CALLS = [
    ([1.0, -1, 2, -2, 3], [1.0, 2, 3, 4]),
    ([1.0, -1, -2, -2, -3], [1.0, -2, -3, -4]),
    ([-1.0, -1, -2, -2, -3], [1.0, 2, 3, 4]),
    ([1.0, 1, 2, 2, 3], [5.0, 6, 7, 8]),
    ([1.0, 1, 2, 2, -3], [5.0, 6, 7, 8]),
]


@pytest.mark.parametrize("engine", ["iree", "onnxruntime"])
@pytest.mark.parametrize("name", OF_ELEMENTS)
@pytest.mark.share(28)
def test_sizes_that_elements_decide(engine: str, name: str) -> None:
    """``y[n]`` behind the end of ``y`` read other memory on IREE; writes to ``z[:n]`` were refused, or lost the rest."""
    require(engine)
    function = OF_ELEMENTS[name]

    class Model(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return function(x, y)

    examples = tuple(map(torch.tensor, CALLS[0]))
    ours = torch2mlir.compile(Model(), *examples, engine=engine)
    for call in [*CALLS[1:], CALLS[0]]:
        given = tuple(map(torch.tensor, call))
        if name in REFUSED_AT_CALLS:
            with pytest.raises(
                InputError, match="that elements decide is not as the program needs it"
            ):
                ours(*given)
        else:
            assert_as_eager(ours, function, *given)


def test_an_exported_program_says_what_it_needs() -> None:
    """It is not captured again."""

    class Model(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, 4::2].squeeze() * 2

    shapes = ({0: Dim.AUTO, 1: Dim.AUTO},)
    program = torch.export.export(Model(), (torch.randn(3, 7),), dynamic_shapes=shapes)
    ours = torch2mlir.compile(program)
    x = torch.randn(4, 9)
    torch.testing.assert_close(ours(x), Model()(x))
    with pytest.raises(InputError, match="something else for such sizes"):
        ours(torch.randn(4, 6))


def test_a_place_that_is_not_there() -> None:
    """PyTorch's fake tensors do not look for it."""
    with pytest.raises(BackendContractError, match="this op cannot run"):
        torch2mlir.compile(lambda x: torch.select_scatter(x, x[0], 0, 2), torch.randn(1, 3))


BY_A_FACTOR: dict[str, Callable[[Tensor], Tensor]] = {
    "of sizes": lambda x: F.interpolate(x, scale_factor=0.7, recompute_scale_factor=True),
    "of places": lambda x: F.interpolate(x, scale_factor=0.7, mode="bilinear"),
    "of one size": lambda x: F.interpolate(x, scale_factor=(1.3, 1.0)) + x.mean(0)[:, :1],
}


@pytest.mark.parametrize("name", BY_A_FACTOR)
@pytest.mark.share(3)
def test_sizes_by_a_factor_are_captured_one_by_one(name: str) -> None:
    """What f64 makes of a size and 0.7 no dialect can say; a size that does not need it goes on varying."""
    function = BY_A_FACTOR[name]
    example = torch.randn(2, 3, 12, 10)
    ours = torch2mlir.compile(
        function,
        example,
        output_type="onnx",
        dynamic_shapes=(dict.fromkeys((0, 2, 3), Dim.AUTO),),
    )
    for sizes in ((2, 3, 12, 10), (4, 3, 11, 10), (3, 3, 20, 13), (2, 3, 12, 10)):
        x = torch.randn(sizes)
        torch.testing.assert_close(ours(x), function(x), atol=1e-5, rtol=1e-5)


def test_a_size_by_a_factor_that_the_user_bounds_is_refused() -> None:
    shapes = ({2: Dim("height", min=4, max=64)},)
    with pytest.raises(CaptureError, match="no dialect form") as refused:
        torch2mlir.compile(
            BY_A_FACTOR["of places"], torch.randn(2, 3, 12, 10), dynamic_shapes=shapes
        )
    assert "Dim.AUTO" in str(refused.value)
