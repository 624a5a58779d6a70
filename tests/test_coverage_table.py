"""The checked-in table of coverage says of every op what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_table_is_up_to_date() -> None:
    command = [sys.executable, "scripts/update_coverage.py", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"run make coverage: {result.stdout}{result.stderr}"
