"""Output files that are either complete or not there."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO

from torch2mlir.errors import InputError


def path_of(place: object) -> Path:
    """The path that the user means.

    Raises:
        InputError: it is no path, or one that no system has.
    """
    try:
        path = Path(place)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(
            f"a {type(place).__name__} is no path", hint="give a text or a Path"
        ) from error
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} is no path: it has a null character")
    return path


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
    """Replace ``target`` by what ``write`` writes, once all of it is written.

    What is no plain file, as a pipe or ``/dev/null``, is written to; where a link leads to is replaced, and keeps its
    permissions.

    Raises:
        InputError: the system refuses it, or there is no such folder.
    """
    try:
        checked_target(target)
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                write(stream)
            return
        replace_whole(target, lambda aside: _write_to(aside, write))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error


def _write_to(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    with path.open("wb") as stream:
        write(stream)


def replace_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Replace ``target`` by the file that ``write`` writes at the path it gets, once all of it is written.

    Where a link leads to is replaced, and keeps its permissions.

    Raises:
        OSError: the system refuses it.
    """
    target = Path(os.path.realpath(target))
    aside = target.with_name(f".{secrets.token_hex(6)}.partial")
    try:
        aside.touch(exist_ok=False)
        mode = (target if target.exists() else aside).stat().st_mode
        write(aside)
        aside.chmod(stat.S_IMODE(mode))  # which a library may have made its own
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
