"""What commands say of the files they write."""

from __future__ import annotations

from pathlib import Path

STDOUT = "-"


def described(file: Path) -> str:
    """A file with its size."""
    return f"{file} ({_readable(file.stat().st_size)})"


def total_size(directory: Path) -> str:
    """The size of all files in a directory."""
    return _readable(sum(path.stat().st_size for path in directory.rglob("*") if path.is_file()))


def _readable(size: float) -> str:
    """A number of bytes as people read it, in powers of ten."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.2f} GB"
