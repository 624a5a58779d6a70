"""Output files are complete or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2mlir.errors import InputError
from torch2mlir.tools.output import write_whole


def test_companions_move_along(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        path.write_text("text")
        path.with_suffix(".safetensors").write_bytes(b"weights")

    files = write_whole(tmp_path / "m.mlir", write)
    assert files == [tmp_path / "m.safetensors", tmp_path / "m.mlir"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mlir", "m.safetensors"]


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "m.mlir"
    target.write_text("old")

    def write(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_whole(target, write)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.mlir"]


def test_a_missing_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        write_whole(tmp_path / "nowhere" / "m.mlir", Path.touch)
    with pytest.raises(InputError, match="is a folder"):
        write_whole(tmp_path, Path.touch)
