"""Decompositions that were traced for another program of the process: the same call, if the same is known of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import BackendContractError
from torch2mlir.transforms import templates
from torch2mlir.transforms.decompositions import decomposes, registry
from torch2mlir.transforms.semantics.fake import FakeWorld


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_KEPT", templates._Kept())


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One entry for each trace."""
    found, original = list[Any](), FakeWorld._trace

    def counted(world: FakeWorld, *rest: Any) -> Any:
        found.append(rest)
        return original(world, *rest)

    monkeypatch.setattr(FakeWorld, "_trace", counted)
    return found


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.eval()

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.layer(x)
        return y.std(1), y.unfold(1, 2, 2), torch.logsumexp(y, (0, 1))


def exported() -> torch.export.ExportedProgram:
    sizes = {0: Dim("batch", min=2, max=64), 1: 2 * Dim("half", min=2, max=50)}
    return torch.export.export(Encoder(), (torch.randn(4, 6, 8),), dynamic_shapes=(sizes,))


def test_a_program_is_traced_for_one_dialect_only(traced: list[Any]) -> None:
    program = exported()
    first = str(torch2mlir.export_and_import(program, output_type="linalg-on-tensors"))
    count = len(traced)
    assert count
    for dialect in ("stablehlo", "linalg-on-tensors"):
        again = str(torch2mlir.export_and_import(program, output_type=dialect))
    assert len(traced) == count
    assert again == first


PARTS: dict[str, Callable[[Tensor], Any]] = {
    "chunk": lambda x: x.chunk(3, 1)[-1],
    "unfold": lambda x: x.unfold(1, 2, 3),
    "pool": lambda x: torch.nn.functional.avg_pool1d(x, 3, 2, ceil_mode=True),
    "kthvalue": lambda x: x.kthvalue(2, 1).values,
    "resized": lambda x: torch.nn.functional.interpolate(x[None], size=5),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("name", PARTS)
def test_what_is_known_of_other_sizes_is_not_taken_over(name: str) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Any:
            return PARTS[name](x * 2)

    def compiled(low: int, high: int) -> Any:
        sizes = {1: Dim.AUTO(min=low, max=high)}
        return torch2mlir.compile(
            Model(), torch.randn(2, low + 6), dynamic_shapes=(sizes,), engine="reference"
        )

    compiled(12, 24)
    run = compiled(3, 90)
    for length in (4, 7, 11, 24, 50):
        x = torch.randn(2, length)
        torch.testing.assert_close(run(x), Model()(x))


class Checked(torch.nn.Module):
    """A model whose sizes are large by what it asserts."""

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least = least

    def forward(self, x: Tensor) -> Tensor:
        torch._check(x.shape[0] >= self.least)
        return torch.nn.functional.gelu(x)


@pytest.mark.parametrize("asserted", [False, True], ids=["bounded", "asserted"])
def test_a_choice_is_one_for_the_sizes_it_was_made_for(
    asserted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(x: Tensor, approximate: str = "none") -> Tensor:
        return x + 1 if x.shape[0] > 10 else x - 1

    chosen.__module__ = templates.__name__  # and so one of ours
    monkeypatch.setitem(registry.table(), torch.ops.aten.gelu.default, chosen)

    def lowered(least: int) -> str:
        bound = 2 if asserted else least
        model = Checked(least if asserted else 2)
        sizes = ({0: Dim.AUTO(min=bound)},)
        return str(torch2mlir.export_and_import(model, torch.zeros(40), dynamic_shapes=sizes))

    assert "torch.aten.add" in lowered(20)
    with pytest.raises(BackendContractError, match="depends on its sizes"):
        lowered(3)


def test_the_default_dtype_is_asked_anew() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.hann_window(6) * x

    x = torch.arange(6, dtype=torch.int32)
    for dtype in (torch.float32, torch.float64, torch.float32):
        torch.set_default_dtype(dtype)
        try:
            result = torch2mlir.compile(Model(), x, engine="reference")(x)
            expected = Model()(x)
        finally:
            torch.set_default_dtype(torch.float32)
        assert result.dtype is expected.dtype is dtype
        torch.testing.assert_close(result, expected)


@pytest.fixture
def own_gelu() -> Iterator[list[float]]:
    """A decomposition that reads something that is not among its arguments."""
    factor, op = [2.0], torch.ops.aten.gelu.default
    before = registry._OURS.get(op)
    decomposes(op)(lambda x, approximate="none": x * factor[0])
    yield factor
    registry._OURS.pop(op)
    if before is not None:
        registry._OURS[op] = before
    registry.table.cache_clear()
    registry.has_users_own.cache_clear()


def test_the_users_own_decompositions_are_traced_each_time(own_gelu: list[float]) -> None:
    x = torch.randn(3)
    for own_gelu[0] in (2.0, 3.0):
        run = torch2mlir.compile(torch.nn.GELU(), x, engine="reference")
        torch.testing.assert_close(run(x), x * own_gelu[0])


@pytest.mark.parametrize("key", ["CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_the_users_own_ops_are_traced_each_time(key: str) -> None:
    factor = [2.0]
    with torch.library._scoped_library("t2m_templates", "DEF") as library:
        library.define("scaled(Tensor x) -> Tensor")
        library.impl("scaled", lambda x: x * factor[0], key)
        scaled = torch.ops.t2m_templates.scaled
        x = torch.randn(3)
        for factor[0] in (2.0, 3.0):
            run = torch2mlir.compile(lambda x: scaled(x), x, engine="reference")
            torch.testing.assert_close(run(x), x * factor[0])


def test_what_has_not_been_asked_for_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MOST_KEPT", 2)
    kept = templates._Kept()
    some = templates.Traced(None, (), FakeWorld({}))
    for key in ("a", "b", "a", "c"):
        if kept.get(key) is None:
            kept.keep(key, some)
    assert [kept.get(key) is not None for key in ("a", "b", "c")] == [True, False, True]
