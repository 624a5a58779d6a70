"""Output files that are either complete or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from torch2mlir.errors import InputError

STDOUT = "-"


def write_whole(target: Path, write: Callable[[Path], None]) -> list[Path]:
    """Let ``write`` make a file and its companions aside, then move them into place together.

    Args:
        target: the file that is wanted.
        write: is given a path of the same file name in a temporary folder of the same file system;
            what it creates next to that path (external weights) moves along.

    Returns:
        The files written, ``target`` last.

    Raises:
        InputError: the folder does not exist or ``target`` is one.
    """
    folder = target.parent
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", hint="create it first")
    if target.is_dir():
        raise InputError(f"{target} is a folder", hint="name a file with -o")
    with tempfile.TemporaryDirectory(prefix=".torch2mlir-", dir=folder) as aside:
        write(Path(aside) / target.name)
        names = sorted(os.listdir(aside), key=lambda name: name == target.name)
        for name in names:
            os.replace(Path(aside) / name, folder / name)
    return [folder / name for name in names]
