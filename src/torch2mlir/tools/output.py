"""What commands say of the files they write."""

from __future__ import annotations

from pathlib import Path

STDOUT = "-"


def described(file: Path) -> str:
    """A file with its size as people read it, in powers of ten."""
    amount = float(file.stat().st_size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{file} ({amount:.3g} {unit})"
        amount /= 1000
    return f"{file} ({amount:.2f} GB)"
