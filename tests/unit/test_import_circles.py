"""Modules are loaded in one direction."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from import_circles import circles, imports, modules


def test_no_modules_import_each_other() -> None:
    known = modules()
    assert not circles({name: imports(name, path, known) for name, path in known.items()})


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert circles(graph) == [["a", "b", "c"]]
