"""Output files that are either complete or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from torch2mlir.errors import InputError


def checked_target(target: Path) -> Path:
    """The same path, which can be written.

    Raises:
        InputError: its folder does not exist, or it is a folder itself.
    """
    if not target.parent.is_dir():
        raise InputError(f"{target.parent} is not a folder", hint="create it first")
    if target.is_dir():
        raise InputError(f"{target} is a folder", hint="name a file in it")
    return target


def write_whole(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Replace ``target`` by what ``write`` writes, once all of it is written."""
    checked_target(target)
    descriptor, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            write(stream)
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        os.unlink(aside)
        raise
