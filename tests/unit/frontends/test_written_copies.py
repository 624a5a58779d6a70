"""Writes to what shares memory with an argument for some strides: for others it is a copy, and the argument stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import torch2mlir
from torch2mlir.errors import InputError

OPS: dict[str, Callable[[Tensor], Tensor]] = {
    "contiguous": lambda x: x.contiguous(),
    "reshape": lambda x: x.reshape(-1),
    "flatten": lambda x: torch.flatten(x),
    "ravel": lambda x: x.ravel(),
    "to": lambda x: x.to(memory_format=torch.contiguous_format),
}


def _dense() -> Tensor:
    return torch.randn(4, 3)


def _turned() -> Tensor:
    return torch.randn(3, 4).T


def _changed(name: str) -> Callable[[Tensor], Tensor]:
    def changed(x: Tensor) -> Tensor:
        y = OPS[name](x)
        y.add_(1)
        return y * 2

    return changed


class _Changed(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return _changed("reshape")(x)


def _read(name: str) -> Callable[[Tensor], Tensor]:
    def read(x: Tensor) -> Tensor:
        y = OPS[name](x)
        x.add_(1)
        return y * 2

    return read


def _counted(name: str) -> Callable[[Tensor], tuple[Tensor, int]]:
    """Captured by its bytecode, where nobody hears what it calls."""
    changed = _changed(name)

    def counted(x: Tensor) -> tuple[Tensor, int]:
        return changed(x), int((x > 0).sum())

    return counted


def _computed(name: str) -> Callable[[Tensor], tuple[Tensor, int]]:
    """Captured by its bytecode too, and what is written is no argument."""

    def computed(x: Tensor) -> tuple[Tensor, int]:
        y = x * 2
        OPS[name](y).add_(1)
        return y, len(x.nonzero())

    return computed


def _written_to(name: str) -> Callable[[Tensor], Tensor]:
    """By another call than one in place: these were not taken for writes."""

    def written_to(x: Tensor) -> Tensor:
        y, z = x * 2, x * 3
        view = OPS[name](y)
        torch.add(view, 1, out=view)
        torch._foreach_add_([OPS[name](z)], 1.0)
        return y + z

    return written_to


@pytest.mark.share(12)
@pytest.mark.parametrize("made", [_changed, _read, _counted, _computed, _written_to])
@pytest.mark.parametrize("name", OPS)
def test_other_strides_are_another_program(
    name: str, made: Callable[[str], Callable[[Tensor], Any]]
) -> None:
    function = made(name)
    for example, other in ((_dense, _turned), (_turned, _dense)):
        ours = torch2mlir.compile(function, example(), engine="reference")
        for _ in range(3):
            x = example()
            given, taken = x.clone(), x.clone()
            torch.testing.assert_close(ours(given), function(taken))
            torch.testing.assert_close(given, taken)
            x = other()
            given, taken = x.clone(), x.clone()
            torch.testing.assert_close(ours(given), function(taken))
            torch.testing.assert_close(given, taken)


def test_exported_programs_are_for_their_strides() -> None:
    exported = torch.export.export(_Changed(), (_dense(),))
    ours = torch2mlir.compile(exported, engine="reference")
    x = _turned()
    before = x.clone()
    with pytest.raises(InputError, match="has the strides"):
        ours(x)
    assert torch.equal(x, before)


def test_a_plain_write_is_taken_as_it_comes() -> None:
    ours = torch2mlir.compile(lambda x: x.mul_(2).sum(), _dense(), engine="reference")
    for x in (_dense(), _turned(), torch.randn(8, 6)[::2, ::2]):
        expected = x * 2
        torch.testing.assert_close(ours(x), expected.sum())
        torch.testing.assert_close(x, expected)


def test_an_artefact_asks_as_well(tmp_path: Path) -> None:
    ours = torch2mlir.compile(_changed("reshape"), _dense(), engine="xla")
    torch2mlir.save(ours, tmp_path / "artefact")
    loaded = torch2mlir.load(tmp_path / "artefact")
    x = _dense()
    expected = x.reshape(-1) * 2 + 2
    torch.testing.assert_close(loaded(x), expected)
    with pytest.raises(InputError, match="has the strides"):
        loaded(_turned())
