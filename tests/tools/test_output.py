"""Output files are complete or not there."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import pytest

from torch2mlir.errors import InputError
from torch2mlir.files import checked_target, write_whole
from torch2mlir.tools.output import described


def test_a_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "m.bin"
    target.write_text("old")
    write_whole(target, lambda stream: stream.write(b"new"))
    assert target.read_text() == "new"
    assert described(target) == f"{target} (3 B)"


def test_a_failing_writer_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "m.mlir"
    target.write_text("old")

    def write(stream: IO[bytes]) -> None:
        stream.write(b"half")
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_whole(target, write)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.mlir"]


def test_a_missing_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        checked_target(tmp_path / "nowhere" / "m.mlir")
    with pytest.raises(InputError, match="is a folder"):
        checked_target(tmp_path)
