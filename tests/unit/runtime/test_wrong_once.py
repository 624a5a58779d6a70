"""Programs that an engine has got wrong without a word: called three times on each dialect's own engine."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import CaptureError, InputError, Torch2MLIRError

DIALECTS = ("linalg-on-tensors", "tosa", "stablehlo")

on_every_dialect = pytest.mark.parametrize("output_type", DIALECTS)


CONVOLUTIONS = (
    nn.Conv1d(3, 4, 3),
    nn.Conv2d(3, 4, 3),
    nn.Conv2d(4, 4, 3, groups=2),
    nn.Conv2d(4, 6, 3, groups=2, bias=False),
    nn.Conv2d(4, 4, 1, groups=2, bias=False),
    nn.Conv2d(3, 4, 1),
    nn.Conv3d(2, 2, 2),
    nn.ConvTranspose2d(3, 4, 3),
    nn.ConvTranspose2d(6, 4, 3, groups=2, bias=False),
)


@pytest.mark.share(3)
@on_every_dialect
def test_convolutions_of_a_batch_do_not_accumulate_into_their_bias(output_type: str) -> None:
    models = {repr(model): model for model in CONVOLUTIONS}

    def images(model: nn.Module) -> torch.Tensor:
        return torch.randn(2, model.in_channels, *[6] * len(model.kernel_size))

    agrees_with_eager(
        Together(models),
        lambda: ({name: (images(model),) for name, model in models.items()},),
        output_type=output_type,
    )


SECOND = (
    nn.Conv2d(4, 4, 3, padding=1, bias=False),
    nn.Conv2d(4, 4, 1, bias=False),
    nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False),
    nn.ConvTranspose2d(4, 4, 3, padding=1, bias=False),
)


class Two(nn.Module):
    """Two convolutions of one tensor."""

    def __init__(self, second: nn.Module) -> None:
        super().__init__()
        self.first = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.second = copy.deepcopy(second)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.first(x) + self.second(x), self.first(x + 1), self.second(x + 1)


@pytest.mark.share(3)
@on_every_dialect
def test_two_convolutions_do_not_accumulate_into_one_zero(output_type: str) -> None:
    models = {f"{batch} of {second}": Two(second) for second in SECOND for batch in (1, 2)}
    agrees_with_eager(
        Together(models),
        lambda: ({name: (torch.randn(int(name[0]), 4, 6, 6),) for name in models},),
        output_type=output_type,
    )


@on_every_dialect
@pytest.mark.share(2)
def test_products_do_not_accumulate_into_what_is_added(output_type: str) -> None:
    def arguments() -> dict[str, tuple[torch.Tensor, ...]]:
        addmm = torch.randn(4, 5), torch.randn(4, 6), torch.randn(6, 5)
        return {"addmm": addmm, "linear": (torch.randn(1, 6),)}

    programs = {"addmm": torch.addmm, "linear": nn.Linear(6, 6)}
    agrees_with_eager(Together(programs), lambda: (arguments(),), output_type=output_type)


@pytest.mark.share(3)
@on_every_dialect
def test_a_product_subtracted_from_itself_is_zero(output_type: str) -> None:
    def distances(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = nn.functional.normalize(x, dim=1)
        return (
            (n[:, None] - n[None]).abs().sum(-1).diagonal(),
            torch.cdist(n, n).diagonal(),
            torch.func.grad(lambda v: torch.cdist(v / v.norm(), v / v.norm()).mean())(x),
        )

    compiled = torch2mlir.compile(distances, torch.randn(4, 3), output_type=output_type)
    for _ in range(3):
        x = torch.randn(4, 3)
        found, wanted = compiled(x), distances(x)
        assert not found[0].any() and not found[1].any()
        torch.testing.assert_close(found[2], wanted[2], rtol=1e-4, atol=1e-6)


class Experts(nn.Module):
    """A mixture of experts as transformers writes it: the rows that an expert gets are found by torch.where."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.gate = nn.Linear(8, count)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chosen = self.gate(x).argmax(-1)
        result = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            (rows,) = torch.where(chosen == number)
            result.index_add_(0, rows, expert(x[rows]))
        return result


def test_a_mixture_of_three_experts() -> None:
    model = Experts(3).eval()
    agrees_with_eager(model, lambda: (torch.randn(10, 8),), output_type="linalg-on-tensors")


@pytest.mark.parametrize("output_type", ["tosa", "stablehlo"])
def test_as_many_rows_as_a_gate_says_are_refused_by_name(output_type: str) -> None:
    """XLA and TOSA have no sizes that elements decide."""
    with pytest.raises(Torch2MLIRError, match="depend") as caught:
        torch2mlir.compile(Experts(3).eval(), torch.randn(10, 8), output_type=output_type)
    assert "test_wrong_once.py" in str(caught.value.location)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
@pytest.mark.share(2)
def test_a_sort_of_three_unknown_sizes(output_type: str) -> None:
    sizes = {0: Dim("a"), 1: Dim("b"), 2: Dim("c")}
    programs = {f"dimension {dim}": partial(torch.sort, dim=dim, stable=True) for dim in range(3)}
    agrees_with_eager(
        Together(programs),
        lambda: ({name: (torch.randn(3, 4, 5),) for name in programs},),
        output_type=output_type,
        dynamic_shapes=({name: (sizes,) for name in programs},),
    )


def two_tensors_in_a_loop(x: torch.Tensor) -> Any:
    from torch._higher_order_ops.while_loop import while_loop

    def condition(i: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return i < 3

    def body(i: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return i + 1, b * 2, a + b

    start = torch.zeros((), dtype=torch.int64)
    return while_loop(condition, body, (start, x.sin(), x.cos()))


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_a_loop_over_two_tensors_of_one_unknown_size(output_type: str) -> None:
    agrees_with_eager(
        two_tensors_in_a_loop,
        lambda: (torch.randn(int(torch.randint(3, 9, ())), 4),),
        output_type=output_type,
        dynamic_shapes=({0: Dim("rows", min=2)},),
    )


@on_every_dialect
@pytest.mark.share(2)
def test_a_product_of_rows_with_factors_of_their_own(output_type: str) -> None:
    def scaled(w: torch.Tensor, factors: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return w @ (x * factors).transpose(1, 2)

    agrees_with_eager(
        scaled,
        lambda: (torch.randn(2, 64, 2), torch.randn(2, 12, 1), torch.randn(2, 12, 2)),
        output_type=output_type,
    )


@on_every_dialect
@pytest.mark.share(2)
def test_angles_of_zeros_and_infinities(output_type: str) -> None:
    values = torch.tensor([0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan")])
    y, x = (each.flatten() for each in torch.meshgrid(values, values, indexing="ij"))
    agrees_with_eager(torch.atan2, lambda: (y, x), output_type=output_type)


def test_hyperbolic_inverses_of_large_numbers() -> None:
    values = torch.tensor([1.0, 4e3, 1e15, 1e20, 1e30, float("inf")])
    both = torch.cat([values, -values, torch.tensor([0.0, 1e-5])])
    agrees_with_eager(
        Together({"acosh": torch.acosh, "asinh": torch.asinh}),
        lambda: ({"acosh": (values,), "asinh": (both,)},),
        output_type="linalg-on-tensors",
    )


@pytest.mark.share(4)
@on_every_dialect
def test_a_strided_convolution_with_one_place(output_type: str) -> None:
    model = nn.Conv2d(16, 16, 3, stride=2, bias=False)
    agrees_with_eager(model, lambda: (torch.randn(2, 16, 4, 4),), output_type=output_type)


@on_every_dialect
@pytest.mark.share(2)
def test_the_place_of_the_largest_of_all_elements_with_all_dimensions(output_type: str) -> None:
    agrees_with_eager(
        lambda x: x.argmax(keepdim=True), lambda: (torch.randn(4, 6),), output_type=output_type
    )


@on_every_dialect
def test_a_slice_of_nothing(output_type: str) -> None:
    agrees_with_eager(lambda x: x[3:] * 2, lambda: (torch.randn(3, 4),), output_type=output_type)


@pytest.mark.share(2)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
def test_transforms_over_several_dimensions(output_type: str) -> None:
    agrees_with_eager(
        Together({"fftn": torch.fft.fftn, "ifft2": torch.fft.ifft2}),
        lambda: (
            {
                "fftn": (torch.randn(3, 4, 5),),
                "ifft2": (torch.randn(3, 4, 5, dtype=torch.complex64),),
            },
        ),
        output_type=output_type,
    )


@on_every_dialect
@pytest.mark.share(2)
def test_a_mask_beside_positions_selects_as_many(output_type: str) -> None:
    def put(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[torch.tensor([0, 1, 2, 1]), mask] = 0.0
        return x

    x, every, some = torch.randn(3, 4), torch.ones(4).bool(), torch.arange(4) % 2 == 0
    compiled = torch2mlir.compile(put, x, every, output_type=output_type)
    for _ in range(2):
        torch.testing.assert_close(compiled(x, every), put(x, every))
        with pytest.raises(InputError, match="another number of positions"):
            compiled(x, some)


@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "stablehlo"])
@pytest.mark.share(2)
def test_every_other_element_of_a_view_is_updated(output_type: str) -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        every_other = x.view(-1)[::2]
        every_other *= 2
        return x

    agrees_with_eager(doubled, lambda: (torch.randn(4, 6),), output_type=output_type)


VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "the only element": lambda x: torch.gather(x, 0, torch.zeros_like(x)),
    "a condition that holds": lambda x: torch.where(x == x, x, x + 1),
    "unchanged numbers": lambda x: x * 1 + 0,
}


@pytest.mark.share(4)
@on_every_dialect
def test_what_folds_to_an_argument_is_not_updated_in_it(output_type: str) -> None:
    def updated(view: Any, x: torch.Tensor, place: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        return view(x).index_add(0, place, row)  # type: ignore[no-any-return]

    def drawn() -> tuple[torch.Tensor, ...]:
        return torch.randint(9, (1,)), torch.zeros(1, dtype=torch.int64), torch.ones(1).long()

    agrees_with_eager(
        Together({name: partial(updated, view) for name, view in VIEWS.items()}),
        lambda: ({name: drawn() for name in VIEWS},),
        output_type=output_type,
        engine="iree",
    )


OF_SUMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "product": lambda v: torch.outer(v, v),
    "sum": lambda v: v[:, None] + v,
    "difference": lambda v: torch.exp(v)[:, None] - 2 * v[None],
}


@pytest.mark.share(4)
@pytest.mark.parametrize("sizes", [None, {0: Dim.AUTO, 1: Dim.AUTO}], ids=["static", "dynamic"])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa"])
def test_what_was_reduced_is_a_row_and_a_column(sizes: Any, output_type: str) -> None:
    def of_sum(program: Any, x: torch.Tensor) -> torch.Tensor:
        return program(x.sum(0))  # type: ignore[no-any-return]

    agrees_with_eager(
        Together({name: partial(of_sum, program) for name, program in OF_SUMS.items()}),
        lambda: ({name: (torch.randn(2, 4),) for name in OF_SUMS},),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=sizes and ({name: (sizes,) for name in OF_SUMS},),
    )


def test_writes_into_windows_are_refused() -> None:
    def into_windows(x: torch.Tensor) -> torch.Tensor:
        x.unfold(1, 2, 2).abs_()
        return x + 1

    with pytest.raises(CaptureError, match="windows") as caught:
        torch2mlir.compile(into_windows, -torch.ones(1, 3), output_type="linalg-on-tensors")
    assert "test_wrong_once.py" in str(caught.value)
