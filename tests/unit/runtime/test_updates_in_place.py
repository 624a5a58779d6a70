"""What a program updates: buffers and arguments, without copies where XLA can, and right wherever somebody looks."""

from __future__ import annotations

import copy
import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from repeated_calls import agrees_with_eager
from torch import nn

import torch2mlir

LENGTH = 64


class Decoder(nn.Module):
    """Attention of one new token to those before it, in a cache of fixed size."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 4, LENGTH, 8))
        self.register_buffer("values", torch.zeros(1, 4, LENGTH, 8))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))
        self.project = nn.Linear(8, 8)

    def forward(self, query: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        place = self.place.reshape(1)
        self.keys.index_copy_(2, place, self.project(new))
        self.values.index_copy_(2, place, new)
        seen = (torch.arange(LENGTH) <= self.place)[None, None, None]
        self.place += 1
        return F.scaled_dot_product_attention(query, self.keys, self.values, attn_mask=seen)


def rotate_and_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Every element of the result is another one of the argument it takes the place of."""
    before = x * 2
    x.copy_(x.t().flip(0) + y)
    return before + x


def with_export(model: Any, *examples: torch.Tensor) -> Callable[..., Any]:
    return torch2mlir.compile(model, *examples)


def with_dynamo(model: Any, *examples: torch.Tensor) -> Callable[..., Any]:
    return torch.compile(model, backend="torch2mlir", options={"fallback": False, "cache": False})


def write_before_a_loop(x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """XLA has no code for the loop's comparisons where it keeps barriers."""
    x.mul_(2)
    result = torch.zeros_like(x)
    for i in range(int(count)):
        result[i] = x[i] * i
    return result


def test_a_write_before_a_loop_that_reads() -> None:
    agrees_with_eager(write_before_a_loop, lambda: (torch.randn(3, 4), torch.randint(0, 4, ())))


both_ways = pytest.mark.parametrize("compiled_by", [with_export, with_dynamo])


def tokens() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(1, 4, 1, 8), torch.randn(1, 4, 1, 8)


def decode(model: nn.Module, compiled: Callable[..., Any], steps: int = 4) -> list[int]:
    """Compares a few steps with eager; the addresses of the keys after each."""
    eager = copy.deepcopy(model)
    addresses = []
    for _ in range(steps):
        given = tokens()
        torch.testing.assert_close(compiled(*given), eager(*given), rtol=1e-4, atol=1e-5)
        for ours, theirs in zip(model.buffers(), eager.buffers(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
        addresses.append(model.keys.data_ptr())  # type: ignore[operator, union-attr]
    return addresses


@both_ways
@torch.no_grad()
def test_a_cache_stays_in_one_place(compiled_by: Callable[..., Any]) -> None:
    model = Decoder().eval()
    addresses = decode(model, compiled_by(model, *tokens()))
    assert len(set(addresses)) == 1


@torch.no_grad()
def test_the_cache_is_not_copied_inside_of_the_program() -> None:
    model = Decoder().eval()
    compiled = torch2mlir.compile(model, *tokens())
    (program,) = compiled.programs.values()
    code = program.executable.loaded.hlo_modules()[0].to_string()  # type: ignore[attr-defined]
    assert code.count("may-alias") + code.count("must-alias") == 3
    copied = re.findall(rf"= f32\[(?:1,)?4,(?:{LENGTH},8|8,{LENGTH})\]\S* copy\(", code)
    assert not copied


@both_ways
@torch.no_grad()
def test_whoever_looks_at_an_argument_sees_the_update(compiled_by: Callable[..., Any]) -> None:
    """Views, arrays of NumPy and other names of the memory, taken before the first and after later calls."""
    given = torch.randn(4, 4), torch.randn(4, 4)
    compiled = compiled_by(rotate_and_add, *given)
    for look in (lambda t: t[1:], lambda t: t.numpy(), lambda t: t.detach(), lambda t: t.T):
        ours, theirs = torch.randn(4, 4), torch.empty(4, 4)
        theirs.copy_(ours)
        seen = [look(ours)]
        for _ in range(3):
            y, version = torch.randn(4, 4), ours._version
            assert torch.equal(compiled(ours, y), rotate_and_add(theirs, y))
            assert torch.equal(ours, theirs) and ours._version > version
            seen.append(look(ours))
            for view in seen:
                assert torch.equal(torch.as_tensor(view), torch.as_tensor(look(theirs)))


@both_ways
@torch.no_grad()
def test_two_arguments_of_one_memory(compiled_by: Callable[..., Any]) -> None:
    compiled = compiled_by(rotate_and_add, torch.randn(4, 4), torch.randn(4, 4))
    ours = torch.randn(4, 4)
    theirs = ours.clone()
    for _ in range(3):  # the second call is with memory of XLA's
        y = torch.randn(4, 4)
        assert torch.equal(compiled(ours, y), rotate_and_add(theirs, y))
        if compiled_by is with_dynamo:  # torch.export takes arguments for separate
            assert torch.equal(compiled(ours, ours), rotate_and_add(theirs, theirs))
        assert torch.equal(compiled(ours.t(), y), rotate_and_add(theirs.t(), y))
        assert torch.equal(ours, theirs)


@torch.no_grad()
def test_memory_outlives_the_program_and_goes_with_the_tensor() -> None:
    model = Decoder().eval()
    compiled = torch2mlir.compile(model, *tokens())
    compiled(*tokens())
    engine, keys, before = compiled.engine, model.keys, model.keys.clone()
    del compiled, model
    gc.collect()
    assert torch.equal(keys, before)
    cells = engine._adopted._cells  # type: ignore[attr-defined]
    address = keys.data_ptr()
    assert address in cells
    del keys
    gc.collect()
    assert address not in cells


@torch.no_grad()
def test_two_programs_update_one_buffer_in_turn() -> None:
    model = Decoder().eval()
    one, other = (torch2mlir.compile(model, *tokens()) for _ in range(2))
    turns = [one, other]

    def taking_turns(*given: torch.Tensor) -> Any:
        turns.reverse()
        return turns[0](*given)

    assert len(set(decode(model, taking_turns, steps=5))) == 1


@torch.no_grad()
def test_the_guard_knows_what_may_change() -> None:
    model = Decoder().eval()
    decode(model, torch2mlir.compile(model, *tokens(), guard=True))


@torch.no_grad()
def test_state_of_an_artefact(tmp_path: Path) -> None:
    model = Decoder().eval()
    torch2mlir.save(torch2mlir.compile(model, *tokens()), tmp_path / "decoder")
    loaded = torch2mlir.load(tmp_path / "decoder")
    for _ in range(3):
        given = tokens()
        torch.testing.assert_close(loaded(*given), model(*given), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_code_from_the_disk_updates_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", str(tmp_path / "code"))
    for _ in range(2):
        model = Decoder().eval()
        assert len(set(decode(model, torch2mlir.compile(model, *tokens())))) == 1


@torch.no_grad()
@pytest.mark.share(4)
@pytest.mark.parametrize(
    "product",
    [
        lambda row, rows: row[:, None] @ rows.mT,
        lambda row, rows: torch.bmm(row[:, None], rows.transpose(1, 2)),
        lambda row, rows: torch.einsum("bk,bnk->bn", row, rows),
    ],
    ids=["mT", "bmm", "einsum"],
)
@pytest.mark.parametrize("count", [4, 6])
def test_rows_that_are_updated_and_multiplied(
    product: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], count: int
) -> None:
    def attend(rows: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        rows[:, 1] = row
        return product(row, rows)

    ours, theirs = torch.zeros(2, count, 4), torch.zeros(2, count, 4)
    compiled = torch2mlir.compile(attend, ours, torch.ones(2, 4), engine="xla")
    for _ in range(3):
        row = torch.randn(2, 4)
        torch.testing.assert_close(compiled(ours, row), attend(theirs, row))
        torch.testing.assert_close(ours, theirs)


def test_other_engines_copy() -> None:
    """IREE could write into an argument, but does not see that an op still reads the old elements."""
    model = Decoder().eval()
    compiled = torch2mlir.compile(model, *tokens(), output_type="linalg-on-tensors")
    decode(model, compiled)
    assert all(not p.executable.function.updated for p in compiled.programs.values())
