"""Compiled programs on disk, found by their content: what an engine has compiled, other processes only load.

A key is a digest of everything that decides the machine code: the program's text, the dialect, the function's name,
the engine with its version and flags, torch2mlir's own source, the versions of it and of PyTorch, and the CPU. The
source is there because an engine changes a program once more before it compiles it, and because a checkout changes
where its version does not: code from before an error was mended is not found. A file holds a header and
the engine's own bytes; its header repeats the key and has a checksum of the bytes. What is torn, foreign, of another
version or not the user's own file is not loaded: the program is compiled again and the file replaced. Files are
written elsewhere first and then renamed, so two processes that compile the same program at once do no harm.

Nothing in a file is unpickled. But it holds machine code that will run: a directory that others can write to is
refused.

The directory is, in this order: what ``TORCH2MLIR_CACHE_DIR`` says (``off``, ``0`` or nothing turn the cache off), or
``torch2mlir`` in ``XDG_CACHE_HOME`` or ``~/.cache``, which only ``torch.compile`` uses unasked.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
import struct
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock

from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import Engine, Executable
from torch2mlir.runtime.lowered import LoweredFunction

VARIABLE = "TORCH2MLIR_CACHE_DIR"
_OFF = frozenset({"", "0", "off", "no", "false"})
_MAGIC = b"torch2mlir-code\x00"
_FORMAT = 2
# magic, format, key, checksum of the payload, its length
_HEADER = struct.Struct("<16sI32s32sQ")


@dataclass
class CacheCounts:
    """What has happened to a cache: programs found, not found, written, and files that were not loaded."""

    hits: int = 0
    misses: int = 0
    stores: int = 0
    refused: int = 0


@dataclass
class CodeCache:
    """A directory of compiled programs. Safe to use from several threads and processes.

    Args:
        directory: made when something is written to it.
    """

    directory: Path
    counts: CacheCounts = field(default_factory=CacheCounts)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def load(self, key: bytes) -> bytes | None:
        """The bytes stored under a key; None if there are none that can be trusted."""
        path = self._path(key)
        try:
            data = _read_own_file(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.refuse(key, str(error))
            return None
        payload = data[_HEADER.size :]
        reason = _problem(data, key, payload)
        if reason is None:
            return payload
        self.refuse(key, reason)
        return None

    def refuse(self, key: bytes, reason: str) -> None:
        """Notes that a file is not used, and tells the user why."""
        self.count("refused")
        warnings.warn(
            f"torch2mlir compiles a program again: the cached {self._path(key)} is not used, {reason}",
            stacklevel=3,
        )

    def store(self, key: bytes, payload: bytes) -> None:
        """Writes bytes under a key; whoever reads sees all of them or none. A disk that is full loses the entry."""
        path = self._path(key)
        header = _HEADER.pack(_MAGIC, _FORMAT, key, hashlib.sha256(payload).digest(), len(payload))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(header)
                    stream.write(payload)
                os.replace(name, path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            warnings.warn(
                f"torch2mlir cannot write compiled code to {self.directory}: {error}", stacklevel=3
            )
            return
        self.count("stores")

    def count(self, name: str) -> None:
        """Adds one to a counter."""
        with self._lock:
            setattr(self.counts, name, getattr(self.counts, name) + 1)

    def _path(self, key: bytes) -> Path:
        name = key.hex()
        return self.directory / name[:2] / f"{name[2:]}.bin"


def compile_cached(engine: Engine, function: LoweredFunction, code: CodeCache | None) -> Executable:
    """Compiles a function, or loads what a cache has of it.

    Raises:
        EngineError: as ``engine.compile``.
    """
    if code is None or not engine.has_portable_code:
        return engine.compile(function)
    key = function_key(engine, function)
    payload = code.load(key)
    if payload is not None:
        try:
            executable = engine.load(payload, function)
        except EngineError as error:
            code.refuse(key, str(error))
        else:
            code.count("hits")
            return executable
    code.count("misses")
    executable = engine.compile(function)
    code.store(key, engine.code(executable))
    return executable


def function_key(engine: Engine, function: LoweredFunction) -> bytes:
    """The digest of a function and of everything else that decides its machine code."""
    about = [engine.name, engine.version(), function.target.name, function.name]
    about.append(str(function.checks))
    return _digest([*about, *_surroundings(), function.text()])


def choice_key(engines: Iterable[Engine], about: Iterable[str]) -> bytes:
    """The digest of what decides which of several engines is the fastest for something."""
    names = [f"{_version_of(each.name)} {each.version()}" for each in engines]
    return _digest(["choice", *names, *_surroundings(), *about])


def cache_from_environment(default: bool) -> CodeCache | None:
    """The cache that ``TORCH2MLIR_CACHE_DIR`` names; without it the user's own, if there is to be a ``default``.

    Raises:
        EngineError: others may write to the directory: they could run code as this user.
    """
    named = os.environ.get(VARIABLE)
    if named is not None and named.strip().lower() in _OFF:
        return None
    if named is None and not default:
        return None
    return cache_in(named) if named is not None else cache_in(_user_directory())


def cache_in(directory: str | os.PathLike[str]) -> CodeCache:
    """The cache of a directory, one object per process.

    Raises:
        EngineError: others may write to the directory.
    """
    path = Path(directory).expanduser().absolute()
    if path.exists():
        found = path.stat()
        if not path.is_dir():
            raise EngineError(f"the cache directory {path} is not a directory")
        if os.name == "posix" and (
            found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH
        ):
            raise EngineError(
                f"compiled code is not kept in {path}: others can write to it",
                hint=f"chmod o-w {path}, or name a directory of your own in {VARIABLE}",
            )
    return _cache_of(path)


@cache
def _cache_of(path: Path) -> CodeCache:
    return CodeCache(path)


def _user_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "torch2mlir"


def _read_own_file(path: Path) -> bytes:
    """The bytes of a plain file of this user's, not of what a link points to.

    Raises:
        OSError: there is no such file, or it is not one of that kind.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is not a plain file")
        if os.name == "posix" and found.st_uid not in (os.geteuid(), 0):
            raise OSError("it belongs to another user")
        return stream.read()


def _problem(data: bytes, key: bytes, payload: bytes) -> str | None:
    """Why a file is not what was stored under a key."""
    if len(data) < _HEADER.size:
        return "it ends within its header"
    magic, format_, stored_key, checksum, length = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        return "it is not a file of this cache"
    if format_ != _FORMAT:
        return f"it is of format {format_}, this version reads {_FORMAT}"
    if stored_key != key:
        return "it holds another program"
    if length != len(payload):
        return f"it has {len(payload)} bytes of code where its header says {length}"
    if hashlib.sha256(payload).digest() != checksum:
        return "its checksum is wrong"
    return None


@cache
def _surroundings() -> tuple[str, ...]:
    """What is the same for all programs of a process."""
    versions = (_version_of("torch2mlir"), _version_of("torch"))
    return (*versions, _source_digest(Path(__file__).parents[1]), platform.system(), _cpu())


def _source_digest(package: Path) -> str:
    """The digest of all Python files below a directory, with their names; 15 ms for all of torch2mlir."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(_digest([path.relative_to(package).as_posix()]))
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _version_of(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _cpu() -> str:
    """The processor's architecture and features: machine code is made for these."""
    lines = {platform.machine(), platform.processor()}
    with_features = Path("/proc/cpuinfo")
    if with_features.exists():
        for line in with_features.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("vendor_id", "model name", "flags", "Features", "CPU part"):
                lines.add(f"{name.strip()}:{value.strip()}")
    return "\n".join(sorted(lines))


def _digest(parts: Iterable[str]) -> bytes:
    """SHA-256 of strings, each with its length, so that no two lists run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(struct.pack("<Q", len(data)))
        digest.update(data)
    return digest.digest()
