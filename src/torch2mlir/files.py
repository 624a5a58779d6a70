"""Output files that are either complete or not there."""

from __future__ import annotations

import os
import secrets
import shutil
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
        _replace(Path(os.path.realpath(target)), write)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error


def _replace(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    aside = target.with_name(f".{secrets.token_hex(6)}.partial")
    try:
        with aside.open("xb") as stream:  # with the permissions that new files have here
            write(stream)
        if target.exists():
            shutil.copymode(target, aside)
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
