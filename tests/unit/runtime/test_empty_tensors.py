"""Tensors without elements: a batch of nothing, or nothing selected.

ONNX Runtime died of recurrent layers and group norms of nothing; OpenVINO's poolings of nothing were those of the call before,
and its products over nothing were whatever was in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim
from torch.utils import _pytree as pytree

import torch2mlir
from tests.e2e.configurations import require
from torch2mlir.errors import InputError, Torch2MLIRError

ENGINES = [
    ("linalg-on-tensors", "iree"),
    ("stablehlo", "xla"),
    ("tosa", "iree"),
    ("onnx", "onnxruntime"),
    ("onnx", "openvino"),
]


class Attention(nn.Module):
    """To as many keys as there are rows."""

    def forward(self, x: Tensor) -> Tensor:
        keys = x[None, None]
        return nn.functional.scaled_dot_product_attention(torch.ones(1, 1, 3, 4), keys, keys)


class Squared(nn.Module):
    """A sum of as many terms as there are rows."""

    def forward(self, x: Tensor) -> Tensor:
        return x.T @ x


PROGRAMS: dict[str, tuple[Callable[[], nn.Module], list[int]]] = {
    "lstm": (lambda: nn.LSTM(4, 3, batch_first=True), [-1, 5, 4]),
    "gru": (lambda: nn.GRU(4, 3, bidirectional=True), [5, -1, 4]),
    "group_norm": (lambda: nn.GroupNorm(2, 4), [2, 4, -1]),
    "average": (lambda: nn.AvgPool1d(2), [-1, 4, 6]),
    "largest": (lambda: nn.MaxPool2d(2), [-1, 4, 6, 6]),
    "response_norm": (lambda: nn.LocalResponseNorm(2), [-1, 4, 5]),
    "convolution": (lambda: nn.Conv2d(3, 7, 3), [-1, 3, 3, 3]),
    "linear": (lambda: nn.Linear(4, 3), [-1, 4]),
    "attention": (Attention, [-1, 4]),
    "squared": (Squared, [-1, 4]),
}


GRU = pytest.param("gru", marks=pytest.mark.full("a recurrent layer as the LSTM"))


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("name", [GRU if name == "gru" else name for name in PROGRAMS])
@torch.no_grad()
@pytest.mark.share(72)
def test_a_size_of_0(target: tuple[str, str], name: str) -> None:
    output_type, engine = target
    require(engine)
    make, shape = PROGRAMS[name]
    model, axis = make().eval(), shape.index(-1)

    def tensor(size: int) -> Tensor:
        return torch.randn([size if each < 0 else each for each in shape])

    compiled = torch2mlir.compile(
        model,
        tensor(3),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=({axis: Dim.DYNAMIC},),
    )
    for size in (3, 0, 1, 0, 5):
        x = tensor(size)
        assert_close(compiled(x), model(x))


@pytest.mark.share(4)
@pytest.mark.parametrize("target", [*ENGINES, ("stablehlo", "iree")])
def test_steps_over_a_size_of_0(target: tuple[str, str]) -> None:
    """StableHLO on IREE had 1431655765 columns of every third of none, and reading them ended the process."""
    output_type, engine = target
    require(engine)

    def stepped(x: Tensor) -> tuple[Tensor, ...]:
        return x[::2], x[1::3] * 2, x.mT[..., ::3], x[:-1:2]

    compiled = torch2mlir.compile(
        stepped,
        torch.randn(6, 4),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=({0: Dim.DYNAMIC},),
    )
    for size in (6, 0, 1, 2, 0, 5):
        x = torch.randn(size, 4)
        assert_close(compiled(x), stepped(x))


SELECTING = ["lstm", GRU, "average", "largest", "convolution", "linear", "squared"]


@pytest.mark.parametrize("target", [ENGINES[0], ENGINES[3]])
@pytest.mark.parametrize("name", SELECTING)
@torch.no_grad()
@pytest.mark.share(16)
def test_nothing_selected(target: tuple[str, str], name: str) -> None:
    output_type, engine = target
    require(engine)
    make, shape = PROGRAMS[name]
    axis = shape.index(-1)

    class Selected(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = make()

        def forward(self, x: Tensor, mask: Tensor) -> Any:
            return self.layer(x[mask].movedim(0, axis))

    def rows() -> Tensor:
        return torch.randn(6, *[each for each in shape if each > 0])

    model = Selected().eval()
    compiled = torch2mlir.compile(
        model, rows(), torch.arange(6) % 2 == 0, output_type=output_type, engine=engine
    )
    for mask in (torch.arange(6) < 4, torch.arange(6) < 0, torch.arange(6) == 2):
        x = rows()
        assert_close(compiled(x, mask), model(x, mask))


CHOICES: dict[str, Callable[[Tensor], Any]] = {
    "max": lambda x: x.max(0, keepdim=True),
    "amin": lambda x: x.amin(0),
    "argmax": lambda x: x.argmax(0, keepdim=True),
    "of_all": lambda x: x.max() * 2,
    "median": lambda x: x.median(0),
}


@pytest.mark.parametrize("target, name", product(ENGINES[:4], CHOICES))
@pytest.mark.parametrize("is_program", [False, True], ids=["model", "program"])
@pytest.mark.share(32)
def test_the_largest_of_nothing_is_refused(
    target: tuple[str, str], name: str, is_program: bool
) -> None:
    """With ``keepdim`` PyTorch's meta kernels do not, and what was in memory came back."""
    output_type, engine = target
    require(engine)

    class Chooses(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return CHOICES[name](x)

    model, x, shapes = Chooses(), torch.randn(3, 4), ({0: Dim.DYNAMIC},)
    if is_program:
        program = torch.export.export(model, (x,), dynamic_shapes=shapes)
        compiled = torch2mlir.compile(program, output_type=output_type, engine=engine)
    else:
        compiled = torch2mlir.compile(
            model, x, output_type=output_type, engine=engine, dynamic_shapes=shapes
        )
    assert_close(compiled(x), model(x))
    with pytest.raises(InputError):
        compiled(torch.randn(0, 4))


def test_an_artefact_has_code_for_a_size_of_0_if_it_was_called_with_one(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    model = nn.AvgPool1d(2)
    compiled = torch2mlir.compile(
        model, torch.randn(3, 4, 6), engine="onnxruntime", dynamic_shapes=({0: Dim.DYNAMIC},)
    )
    nothing = torch.randn(0, 4, 6)
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "before"))
    with pytest.raises(InputError, match="no code for the sizes s.*=0"):
        loaded(nothing)
    compiled(nothing)
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "after"))
    assert loaded(nothing).shape == (0, 4, 3)
    x = torch.randn(2, 4, 6)
    assert_close(loaded(x), model(x))


def assert_close(actual: Any, expected: Any) -> None:
    for one, other in zip(*map(pytree.tree_leaves, (actual, expected)), strict=True):
        torch.testing.assert_close(one, other)


OF_NOTHING: dict[str, tuple[Callable[[Tensor], Tensor], list[tuple[int, ...]]]] = {
    "pooled": (lambda x: F.max_pool2d(x, 2), [(2, 3, 8, 8), (2, 0, 8, 8), (0, 3, 8, 8)]),
    "pooled to a size": (
        lambda x: F.adaptive_avg_pool2d(x, 2),
        [(2, 3, 8, 8), (2, 3, 0, 8), (2, 0, 8, 8)],
    ),
    "resized": (
        lambda x: F.interpolate(x, size=(4, 4), mode="bilinear"),
        [(2, 3, 8, 8), (2, 3, 0, 8), (0, 3, 8, 8)],
    ),
    "windows": (lambda x: F.unfold(x, 2), [(2, 3, 8, 8), (2, 0, 8, 8)]),
    "transformed": (lambda x: torch.fft.rfft(x).abs(), [(3, 8), (3, 0), (4, 5)]),
    "transformed back": (lambda x: torch.fft.irfft(x + 0j), [(3, 8), (3, 1), (4, 5)]),
    "quantile": (lambda x: torch.quantile(x, 0.5, dim=1), [(3, 8), (0, 8), (3, 0), (4, 5)]),
    "norm": (lambda x: x.norm(-1, dim=1), [(3, 8), (3, 0), (0, 8)]),
    "largest": (lambda x: x.amax(1), [(3, 8), (0, 0), (0, 8)]),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", OF_NOTHING)
def test_what_eager_mode_refuses_of_nothing_is_refused(name: str) -> None:
    """PyTorch's kernels on fake tensors look at sizes that they take for 2 or more, or not at all."""
    function, sizes = OF_NOTHING[name]
    example = torch.randn(sizes[0])
    shapes: Any = (dict.fromkeys(range(example.dim()), Dim.AUTO),)
    ours = torch2mlir.compile(function, example, output_type="onnx", dynamic_shapes=shapes)
    for each in [*sizes[1:], sizes[0]]:
        x = torch.randn(each)
        try:
            expected = function(x)
        except Exception:
            with pytest.raises(Torch2MLIRError):
                ours(x)
            with pytest.raises(Torch2MLIRError):
                torch2mlir.compile(function, x, output_type="onnx")
        else:
            torch.testing.assert_close(ours(x), expected)


def unpooled(x: Tensor, places: Tensor) -> Tensor:
    return F.max_unpool2d(x, places, 2)


REFUSED_OF_SIZES: dict[str, tuple[Callable[..., Tensor], list[Tensor], list[Tensor]]] = {
    "cut_off": (lambda x: F.pad(x, (-2, 1)), [torch.randn(2, 6)], [torch.randn(2, 1)]),
    "transposed_1d": (
        lambda x, w: F.conv_transpose1d(x, w, None, 2, 1, 1, 1, 2),
        [torch.randn(1, 1, 3), torch.randn(1, 1, 1)],
        [torch.randn(1, 1, 1), torch.randn(1, 1, 1)],
    ),
    "unpooled": (
        unpooled,
        [torch.randn(1, 2, 3, 3), torch.arange(18).view(1, 2, 3, 3)],
        [torch.randn(1, 0, 3, 3), torch.zeros(1, 0, 3, 3, dtype=torch.int64)],
    ),
}
"""Functions with what they take, and what eager mode refuses."""


@pytest.mark.parametrize("target", ENGINES[:3])
@pytest.mark.parametrize("name", REFUSED_OF_SIZES)
@pytest.mark.share(9)
def test_sizes_that_eager_mode_refuses(target: tuple[str, str], name: str) -> None:
    output_type, engine = target
    require(engine)
    function, taken, refused = REFUSED_OF_SIZES[name]
    shapes = tuple({axis: Dim.AUTO for axis in range(x.dim())} for x in taken)
    if name == "transposed_1d":  # TOSA wants its kernel's sizes
        shapes = (shapes[0], None)  # type: ignore[assignment]
    try:
        compiled = torch2mlir.compile(
            function, *taken, output_type=output_type, engine=engine, dynamic_shapes=shapes
        )
    except torch2mlir.UnsupportedOpError as error:
        pytest.skip(str(error).splitlines()[0])
    with pytest.raises(RuntimeError):
        function(*refused)
    for _ in range(2):
        assert_close(compiled(*taken), function(*taken))
        with pytest.raises(InputError):
            compiled(*refused)


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.share(2)
def test_nothing_is_scattered(target: tuple[str, str]) -> None:
    """Linalg on IREE ended the process with SIGFPE."""
    output_type, engine = target
    require(engine)

    def scattered(x: Tensor, places: Tensor, values: Tensor) -> Tensor:
        return torch.scatter(x, 0, places, values)

    x, places = torch.randn(10, 5), torch.arange(4)[:, None].repeat(1, 3)
    compiled = torch2mlir.compile(
        scattered,
        x,
        places,
        torch.randn(4, 3),
        output_type=output_type,
        engine=engine,
        dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},) * 3,
    )
    for sizes in ((4, 3), (4, 0), (2, 5), (0, 3), (1, 1)):
        given = x, places[:1, :1].expand(sizes).contiguous(), torch.randn(sizes)
        if 0 not in sizes:
            given = x, torch.arange(sizes[0])[:, None].repeat(1, sizes[1]), given[2]
        assert_close(compiled(*given), scattered(*given))
