"""Sizes that elements decide which are known before a call: engines and dialects of fixed sizes have the programs too."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import EngineError, InputError, Torch2MLIRError

CONFIGURATIONS = [
    ("stablehlo", "xla"),
    ("tosa", "iree"),
    ("linalg-on-tensors", "iree"),
    ("onnx", "onnxruntime"),
]


def _of_pairs(x: Tensor) -> Tensor:
    """A contrastive loss: each row against all others."""
    count = x.shape[0]
    same, similar = torch.eye(count).bool(), x @ x.T
    others = similar[~(same | same.roll(count // 2, 0))].view(count, -1)
    positive = torch.cat([similar.diag(count // 2), similar.diag(-(count // 2))]).view(count, 1)
    labels = torch.zeros(count, dtype=torch.long)
    return nn.functional.cross_entropy(torch.cat([positive, others], 1), labels)


def _written_constants(x: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.tensor([True, False, True, False])
    positions = mask.nonzero()
    positions += 1
    mask[1] = True
    return x[:, mask], positions


def _counted(x: Tensor) -> tuple[Tensor, ...]:
    values, counts = torch.unique(torch.tensor([3, 1, 1, 2]), return_counts=True)
    return x.sum() * values, counts, torch.bincount(torch.tensor([0, 2, 2])) * x.sum()


def _updated(x: Tensor) -> Tensor:
    mask, x = torch.eye(4).bool(), x.clone()
    x[mask] = x[mask].cumsum(0)
    return x


def _beside_positions(x: Tensor) -> tuple[Tensor, Tensor]:
    mask, i = torch.tensor([True, False, True, False]), torch.tensor([0, 1])
    return x[i, mask], x[i][:, mask]


def _of_nothing(x: Tensor) -> tuple[Tensor, Tensor]:
    chosen = x[:, torch.zeros(4, dtype=torch.bool)]
    return chosen, chosen.sum(1)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "of_pairs": _of_pairs,
    "off_the_diagonal": lambda x: x[~torch.eye(4, dtype=torch.bool)].view(4, 3).softmax(1),
    "rows_off_the_diagonal": lambda x: x[~torch.eye(4).bool()].view(4, -1).logsumexp(1),
    "triangle": lambda x: x[torch.ones(4, 4, dtype=torch.bool).triu(1)],
    "columns": lambda x: x[:, torch.tensor([True, False, True, True])] * 2,
    "masked_select": lambda x: x.masked_select(torch.tensor([True, False, False, True])),
    "repeated": lambda x: (
        x.repeat_interleave(torch.tensor([1, 0, 2, 1]), dim=1),
        x.repeat_interleave(torch.tensor([2]), dim=0),
        x.repeat_interleave(torch.tensor([0, 1] * 8)),
    ),
    "positions": lambda x: (torch.eye(4).nonzero(), x + 1),
    "number": lambda x: torch.zeros(torch.tensor([3, 4]).sum().item()) + x.sum(),
    "written_constants": _written_constants,
    "counted": _counted,
    "updated": _updated,
    "beside_positions": _beside_positions,
    "of_nothing": _of_nothing,
}


@pytest.mark.share(4)
@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS)
def test_constants_decide(output_type: str, engine: str) -> None:
    agrees_with_eager(
        Together(PROGRAMS),
        lambda: ({name: (torch.randn(4, 4),) for name in PROGRAMS},),
        output_type=output_type,
        engine=engine,
    )


def test_constants_decide_beside_sizes_that_vary() -> None:
    names = ["columns", "written_constants", "counted"]
    sizes = iter([2, 5, 1, 3])

    def arguments() -> tuple[Any]:
        size = next(sizes)
        return ({name: (torch.randn(size, 4),) for name in names},)

    agrees_with_eager(
        Together({name: PROGRAMS[name] for name in names}),
        arguments,
        dynamic_shapes=({name: ({0: Dim.DYNAMIC},) for name in names},),
    )


class _Held(nn.Module):
    """Sizes that the model's own tensors decide."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.tensor([True, False, True, False]))
        self.scores = nn.Parameter(torch.tensor([1.0, -1.0, 2.0, -2.0]))
        self.counts = torch.tensor([2, 0, 1, 1])

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = x.clone()
        y[:, self.mask] = y[:, self.mask].cumsum(1)
        chosen = x[:, self.scores > 0] * self.scores[self.scores > 0]
        repeated = x.repeat_interleave(self.counts, 1) + x.new_zeros(int(self.counts.sum()))
        _, different = torch.unique(self.counts, return_counts=True)
        return (
            y,
            chosen,
            repeated,
            x[:, self.mask.nonzero()[:, 0]] * self.scores[1].item(),
            different,
        )


@pytest.mark.share(4)
@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS)
def test_tensors_of_the_model_decide(output_type: str, engine: str) -> None:
    agrees_with_eager(_Held(), lambda: (torch.randn(3, 4),), output_type=output_type, engine=engine)


def _negated(model: _Held) -> None:
    model.mask.logical_not_()


def _pruned(model: _Held) -> None:
    with torch.no_grad():
        model.scores[0] = -1


def _counted_otherwise(model: _Held) -> None:
    model.counts += 1


@pytest.mark.share(12)
@pytest.mark.parametrize("change", [_negated, _pruned, _counted_otherwise])
@pytest.mark.parametrize(("output_type", "engine"), CONFIGURATIONS[:3])
@torch.no_grad()
def test_what_decides_has_changed(
    change: Callable[[_Held], None], output_type: str, engine: str
) -> None:
    """An error of the call where the sizes are fixed, and right where they are not."""
    model, x = _Held(), torch.randn(3, 4)
    compiled = torch2mlir.compile(model, x, output_type=output_type, engine=engine)
    compiled(x)
    change(model)
    if output_type == "linalg-on-tensors":
        torch.testing.assert_close(compiled(x), model(x))
        return
    with pytest.raises(InputError, match="the model holds decides sizes"):
        compiled(x)


@torch.no_grad()
def test_what_decides_nothing_may_change() -> None:
    model, x = _Held(), torch.randn(3, 4)
    compiled = torch2mlir.compile(model, x)
    model.scores *= 3
    torch.testing.assert_close(compiled(x), model(x))


@torch.no_grad()
def test_saved_and_loaded(tmp_path: Path) -> None:
    model, x = _Held(), torch.randn(3, 4)
    torch2mlir.save(torch2mlir.compile(model, x), tmp_path / "model.artefact")
    loaded = torch2mlir.load(tmp_path / "model.artefact")
    for _ in range(3):
        x = torch.randn(3, 4)
        torch.testing.assert_close(loaded(x), model(x))


def _whole(x: Tensor) -> Tensor:
    mask = torch.zeros(4, dtype=torch.bool)
    mask[1] = True
    mask.copy_(x.sum(0) > 0)
    return x[:, mask]


def _by_a_view(x: Tensor) -> Tensor:
    counts = torch.zeros(8)
    counts[1] = 1
    counts[: x.shape[0]] += x[:, 0]
    return torch.arange(8)[counts > 0] * x.sum()


@pytest.mark.parametrize("program", [_whole, _by_a_view])
@pytest.mark.share(2)
def test_constants_that_the_program_writes(program: Callable[[Tensor], Tensor]) -> None:
    """The view is of a size that varies, of which nothing is computed before a call."""
    sizes = iter([2, 4, 8, 2])
    agrees_with_eager(
        program,
        lambda: (torch.randn(next(sizes), 4),),
        output_type="onnx",
        engine="onnxruntime",
        dynamic_shapes=({0: Dim.DYNAMIC},),
    )


class _Writes(_Held):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        chosen = x[:, self.mask]
        self.mask.logical_not_()
        return (chosen,)


@torch.no_grad()
def test_what_the_program_writes_is_not_known() -> None:
    x = torch.randn(3, 4)
    with pytest.raises(EngineError, match="depends on the elements of a tensor"):
        torch2mlir.compile(_Writes(), x)(x)
    model, eager = _Writes(), _Writes()
    compiled = torch2mlir.compile(model, x, output_type="linalg-on-tensors")
    for _ in range(3):
        torch.testing.assert_close(compiled(x), eager(x))
    assert torch.equal(model.mask, eager.mask)


@pytest.mark.parametrize("counts", [[1, -1, 2, 0], [1, 2, 3]])
def test_counts_that_pytorch_refuses(counts: list[int]) -> None:
    def program(x: Tensor) -> Tensor:
        return x.repeat_interleave(torch.tensor(counts), dim=1)

    x = torch.randn(3, 4)
    with pytest.raises(RuntimeError):
        program(x)
    with pytest.raises(Torch2MLIRError):
        torch2mlir.compile(program, x, output_type="linalg-on-tensors")(x)


@torch.no_grad()
def test_one_cluster_where_sizes_are_known() -> None:
    """A size that elements decide has ``optimize`` leave its op, and those that take it, to PyTorch on XLA."""
    model = torch2mlir.optimize(deepcopy(PROGRAMS["off_the_diagonal"]), tune="xla")
    for _ in range(3):
        x = torch.randn(4, 4)
        torch.testing.assert_close(model(x), PROGRAMS["off_the_diagonal"](x))
