"""Random programs that write tensors in place, scripted: what comes out is right, or the program is refused."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.unit.transforms.scripted import assert_as_eager, function_at_contract
from torch2mlir.errors import BackendContractError

PROGRAMS = 16
SEED = 2024

_WRITES = (
    "add_(1.0)",
    "mul_(2.0)",
    "neg_()",
    "relu_()",
    "zero_()",
    "add_({other}.t())",
    "sub_({other})",
)
_PARTS = (
    "[0] = 7.0",
    "[:, 1] += 1.0",
    "[1:, 0].mul_(3.0)",
    ".diagonal().fill_(2.0)",
    "[{other} > 2.0] = 0.5",
)
_VIEWS = (
    ".t()",
    ".permute(1, 0)",
    ".view(3, 3)",
    ".transpose(0, 1)",
    ".detach()",
    ".reshape(3, 3)",
    "[:, :]",
)
_VALUES = (" * 1.5", " + {other}", ".clone()")


class _Writer:
    """Writes the body of one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["a = x * 1.0"]
        self.made = 0

    def source(self) -> str:
        """The program."""
        names = ["a"]
        for _ in range(self.random.randint(3, 8)):
            self.statement("", 0, names)
        results = ", ".join(f"{name} + 0.0" for name in names[-3:])
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return ({results},)"])
        return f"import torch\n\n\ndef f(x: torch.Tensor):\n{body}\n"

    def statement(self, indent: str, depth: int, names: list[str]) -> None:
        """One statement; ``names`` are the variables that there are, and get the new ones."""
        name, other = self.random.choice(names), self.random.choice(names)
        kind = self.random.random()
        if kind < 0.25:
            self.add(indent, f"{name}.{self.random.choice(_WRITES)}", other)
        elif kind < 0.35:
            self.add(indent, f"{name}{self.random.choice(_PARTS)}", other)
        elif kind < 0.7 or depth == 2:
            self.made += 1
            target = self.random.choice([f"v{self.made}", name])
            made = self.random.choice(_VIEWS + _VALUES)
            self.add(indent, f"{target} = {name}{made}", other)
            if target not in names:
                names.append(target)
        elif kind < 0.87:
            self.add(indent, f"if bool({name}.sum() > {self.random.randint(-5, 20)}.0):", other)
            self.block(indent, depth, names)
            self.add(indent, "else:", other)
            self.block(indent, depth, names)
        else:
            self.add(indent, f"for i{depth} in range({self.random.randint(1, 3)}):", other)
            self.block(indent, depth, names)

    def block(self, indent: str, depth: int, names: list[str]) -> None:
        """Statements whose new variables nobody else sees."""
        inside = list(names)
        for _ in range(self.random.randint(1, 3)):
            self.statement(f"{indent}    ", depth + 1, inside)

    def add(self, indent: str, line: str, other: str) -> None:
        """A line of the program."""
        self.lines.append(indent + line.format(other=other))


def _load(source: str, folder: Path, number: int) -> Callable[..., Any]:
    """The function of a program; scripting reads it from its file."""
    path = folder / f"in_place_{number}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = module.f
    return function


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_right_or_refused(number: int, tmp_path: Path) -> None:
    source = _Writer(SEED + number).source()
    function = _load(source, tmp_path, number)
    x = torch.arange(9.0).reshape(3, 3) - 3
    try:
        function(x.clone())
    except RuntimeError as error:  # PyTorch refuses writes to memory that overlaps
        pytest.skip(str(error).splitlines()[0])
    try:
        module = function_at_contract(function, [x])
    except BackendContractError as error:
        assert "reference semantics" in str(error), source
        return
    assert_as_eager(module, function, [x])
