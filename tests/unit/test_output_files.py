"""Files that are written: whole or not at all, where the path leads, and no file of the user's is lost."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

import torch2mlir
from torch2mlir.errors import InputError
from torch2mlir.files import write_whole


def _failing(stream: object) -> None:
    raise OSError(28, "No space left on device")


def _program(value: float = 1.0, dialect: str = "stablehlo") -> torch2mlir.MlirModule:
    layer = nn.Linear(2, 2)
    nn.init.constant_(layer.weight, value)
    return torch2mlir.export_and_import(
        layer, torch.ones(1, 2), output_type=dialect, weights="external"
    )


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = list[bytes]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, lambda stream: stream.write(b"text"))
    reader.join(20)
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.mlir", tmp_path / "link.mlir"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, lambda stream: stream.write(b"new"))
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "other", lambda stream: stream.write(b"new"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o600


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_whole(target, _failing)
    with pytest.raises(InputError, match="is not a folder"):
        _program(dialect="onnx").save(tmp_path / "no" / "x.onnx")
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        write_whole(tmp_path / ("x" * 300), lambda stream: stream.write(b"new"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_text() == "old"


def test_no_checkpoint_is_replaced(tmp_path: Path) -> None:
    """The name of the weights is the usual one of a model's own."""
    mine, target = {"mine": torch.arange(10.0)}, tmp_path / "model.mlir"
    save_file(mine, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="not from torch2mlir"):
        _program().save(target)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]
    torch.testing.assert_close(load_file(tmp_path / "model.safetensors"), mine)
    (tmp_path / "model.safetensors").unlink()
    for value in (1.0, 2.0):
        _program(value).save(target)
        weights = load_file(tmp_path / "model.safetensors")
        assert weights["weight"].unique().tolist() == [value]


def test_two_programs_have_two_files_of_weights(tmp_path: Path) -> None:
    """``net.v1`` and ``net.v2`` had one, and a program called ``.safetensors`` replaced its own."""
    names = ["net.v1", "net.v2", "net.safetensors"]
    written = [_program(n).save(tmp_path / name) for n, name in enumerate(names)]
    assert len({path for paths in written for path in paths}) == 6
    for n, paths in enumerate(written):
        assert load_file(paths[1])["weight"].unique().tolist() == [n]


@pytest.mark.parametrize(
    ("place", "said"), [(None, "a NoneType is no path"), ("a\0b", "null character")]
)
def test_what_is_no_path_is_refused(place: object, said: str) -> None:
    compiled = torch2mlir.compile(nn.ReLU(), torch.ones(3))
    program = torch2mlir.export_and_import(nn.ReLU(), torch.ones(3))
    for use in (
        lambda: torch2mlir.save(compiled, place),  # type: ignore[arg-type]
        lambda: torch2mlir.load(place),  # type: ignore[arg-type]
        lambda: program.save(place),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=said):
            use()
