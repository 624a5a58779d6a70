"""What an artefact says of itself, and whether it can be trusted: complete, undamaged, made for this process."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import torch

from torch2mlir import __version__
from torch2mlir.errors import ArtefactError
from torch2mlir.runtime.engine import Engine

NAME = "manifest.json"
PROGRAM = "signature.json"
WEIGHTS = "weights.safetensors"
CONFIG = "config.json"
FORMAT = "torch2mlir-artefact"
FORMAT_VERSION = 1

_ISA = re.compile(
    r"^(sse\w*|ssse3|avx\w*|fma4?|f16c|bmi[12]|adx|aes|vaes|sha\w*|sm[34]|amx\w*|popcnt|abm|movbe|gfni|v?pclmulqdq|xsave\w*)$"
)


@dataclass(frozen=True)
class FileRecord:
    """Size in bytes and SHA-256 of a file of the artefact."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """An artefact's description.

    Attributes:
        kind: ``compiled`` for one compiled program, ``optimized`` for a module of ``optimize``.
        engine: the engine's name and its version.
        dialect: what the engine compiled.
        machine: architecture and instruction sets that the code may use.
        versions: of packages that made it.
        files: every other file, by its path in the artefact.
    """

    kind: str
    engine: Mapping[str, str]
    dialect: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    files: Mapping[str, FileRecord] = field(default_factory=dict)

    def text(self) -> str:
        """The manifest as JSON."""
        return json.dumps(
            {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)}, indent=1
        )


def manifest_for(kind: str, engine: Engine, dialect: str, directory: Path) -> Manifest:
    """The manifest of the files that are in a directory."""
    files = {
        path.relative_to(directory).as_posix(): FileRecord(path.stat().st_size, digest(path))
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
    versions = {"torch2mlir": __version__, "torch": torch.__version__}
    return Manifest(
        kind, {"name": engine.name, "version": engine.version()}, dialect, machine(), versions, files
    )  # fmt: skip


_KINDS = {"kind": str, "engine": dict, "dialect": str, "machine": dict, "versions": dict}


def read_manifest(directory: Path) -> Manifest:
    """The manifest of an artefact of this format.

    Raises:
        ArtefactError: there is none, or it is of another format.
    """
    path = directory / NAME
    if not path.is_file():
        raise ArtefactError(
            f"{directory} is no artefact: it has no {NAME}",
            hint="name a directory that torch2mlir.save or `torch2mlir build` has written",
        )
    found = read_json(path)
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ArtefactError(f"{path} is not the manifest of a torch2mlir artefact")
    version = found.pop("format_version", None)
    if version != FORMAT_VERSION:
        raise ArtefactError(
            f"{directory} is of format {version}, this torch2mlir {__version__} reads {FORMAT_VERSION}",
            hint="build it again with this version, or load it with the one that built it",
        )
    try:
        files = {name: FileRecord(**record) for name, record in found.pop("files").items()}
        if lacks := {each.name for each in fields(Manifest)} - {*found, "files"}:
            raise TypeError(f"it has no {', '.join(sorted(lacks))}")
        manifest = Manifest(**found, files=files)
        for name, kind in _KINDS.items():
            if not isinstance(value := getattr(manifest, name), kind):
                raise TypeError(f"'{name}' is a {type(value).__name__}, not a {kind.__name__}")
        return manifest
    except (TypeError, KeyError, AttributeError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error


def other_files(directory: Path) -> list[str]:
    """The files of a directory that no manifest of an artefact names there, whatever its version and their contents."""
    if not directory.is_dir():
        return []
    found = sorted(path for path in directory.rglob("*") if not path.is_dir() or path.is_symlink())
    named = set[Path]()
    with suppress(ArtefactError):
        manifest = read_json(directory / NAME)
        if isinstance(manifest, dict) and manifest.get("format") == FORMAT:
            named = {directory / name for name in (NAME, *manifest.get("files", ()))}
    return [path.relative_to(directory).as_posix() for path in found if path not in named]


def check_files(directory: Path, manifest: Manifest) -> None:
    """Checks that the files are those that were saved, byte for byte.

    Raises:
        ArtefactError: one is missing, truncated, damaged, or not inside of the artefact.
    """
    needed = {"compiled": (PROGRAM, WEIGHTS), "optimized": (CONFIG,)}.get(manifest.kind, ())
    for name in needed:
        listed(directory, manifest, name)
    root = directory.resolve()
    for name, record in manifest.files.items():
        path = directory / name
        if not path.resolve().is_relative_to(root):
            raise ArtefactError(f"{directory} names a file outside of itself: {name}")
        if not path.is_file():
            raise ArtefactError(f"{directory} is not complete: {name} is missing", hint=_AGAIN)
        size = path.stat().st_size
        if size != record.bytes:
            raise ArtefactError(
                f"{path} has {size} bytes where {record.bytes} were saved", hint=_AGAIN
            )
        if digest(path) != record.sha256:
            raise ArtefactError(
                f"{path} is damaged: its contents are not what was saved", hint=_AGAIN
            )


def listed(directory: Path, manifest: Manifest, name: str) -> Path:
    """A file of the artefact that has been checked.

    Raises:
        ArtefactError: the manifest does not know it.
    """
    if name not in manifest.files:
        raise ArtefactError(f"{directory / NAME} does not list {name}", hint=_AGAIN)
    return directory / name


_AGAIN = "copy or build the artefact again"


def check_surroundings(directory: Path, manifest: Manifest, engine: Engine) -> None:
    """Checks that this process can run what the engine compiled.

    Raises:
        ArtefactError: another version of the engine, or a processor without what the code uses.
    """
    if engine.name != manifest.engine.get("name"):
        raise ArtefactError(
            f"{directory} was made by engine '{manifest.engine.get('name')}', not '{engine.name}'"
        )
    if engine.version() != manifest.engine.get("version"):
        raise ArtefactError(
            f"{directory} was compiled by {engine.name} {manifest.engine.get('version')!r}, "
            f"this is {engine.version()!r}",
            hint="install the version that compiled it, or build it again with this one",
        )
    here = machine()
    if manifest.machine.get("architecture") != here["architecture"]:
        raise ArtefactError(
            f"{directory} was compiled for {manifest.machine.get('architecture')}, this machine is "
            f"{here['architecture']}"
        )
    missing = sorted(set(manifest.machine.get("features", ())) - set(here["features"]))
    if missing:
        raise ArtefactError(
            f"{directory} was compiled for a processor with {', '.join(missing[:6])}, which this one does not have",
            hint="build it on the kind of machine that runs it",
        )


def read_json(path: Path) -> Any:
    """A JSON file.

    Raises:
        ArtefactError: it is not JSON.
    """
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ArtefactError(f"{path} cannot be read: {error}", hint=_AGAIN) from error


def digest(path: Path) -> str:
    """The SHA-256 of a file, as ``sha256sum`` prints it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def machine() -> Mapping[str, Any]:
    """The architecture of this machine, and the instruction sets of its processor as far as the system tells."""
    features = set[str]()
    described = Path("/proc/cpuinfo")
    if os.name == "posix" and described.exists():
        for line in described.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "flags":
                features |= {flag for flag in value.split() if _ISA.match(flag)}
            elif name.strip() == "Features":
                features |= set(value.split())
    return {"architecture": platform.machine(), "features": sorted(features)}
