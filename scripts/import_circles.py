"""Lists the circles of modules that import each other when they are loaded; none is what the house wants.

    python scripts/import_circles.py

Imports inside of functions and under ``if TYPE_CHECKING`` are no circles: they happen later, or never.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"


def modules() -> dict[str, Path]:
    """Name -> file of every module of the package."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def loaded_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is loaded."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from loaded_statements(statement.orelse)
            continue
        yield statement
        for block in ("body", "orelse", "finalbody"):
            yield from loaded_statements(getattr(statement, block, []))


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that one imports when it is loaded, as far as they are known."""
    found = set[str]()
    for statement in loaded_statements(ast.parse(path.read_text()).body):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            members = {f"{statement.module}.{alias.name}" for alias in statement.names}
            submodules = members & known.keys()
            found |= submodules
            if len(submodules) < len(members):
                found.add(statement.module)
    return (found & known.keys()) - {name}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components with more than one module (Tarjan, 1972)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            place = stack.index(name)
            component = stack[place:]
            del stack[place:]
            if len(component) > 1:
                found.append(sorted(component))

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def main() -> int:
    """Prints the circles; how many there are is the exit code."""
    known = modules()
    found = circles({name: imports(name, path, known) for name, path in known.items()})
    for circle in found:
        print(" <-> ".join(circle))
    print(f"{len(found)} circles among {len(known)} modules")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
