"""Malformed MLIR: valid texts with tokens deleted, doubled, exchanged and replaced, through parser, verifier and passes.

Whatever a text says, the driver ends with a result or with diagnostics that have a message of their own: of the parser,
of the verifier, or of a pass that met a program that verifies and makes no sense.
``--full`` tries many more.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch2mlir.tools.opt import SPLIT, main
from torch2mlir.transforms import PASSES

TESTS = Path(__file__).parents[1]
TEXTS = [
    part
    for file in sorted(
        [*(TESTS / "filecheck").glob("*.mlir"), TESTS / "unit/dialects/torch_ops.mlir"]
    )
    for part in SPLIT.split(file.read_text())
    if len(part) < 6000 and re.search(r"^[^/\s]", part, re.MULTILINE)
]
TOKEN = re.compile(r"\s+|//[^\n]*|[%@^!#]?[\w.$]+|\"[^\"]*\"|->|.", re.DOTALL)
RUNS = len(PASSES)
"""Texts tried without ``--full``."""
FULL = 40
"""How many times as many with it."""
ODD = [
    "0",
    "-1",
    "?",
    "9223372036854775808",
    "!torch.int",
    "!torch.vtensor<[2],f32>",
    "%nothing",
    '"',
    "1.5",
    "@f",
]
"""What else a token may become."""


def kind(token: str) -> str:
    """What a token is: the first character says it of names, and numbers and words are two more."""
    if token[0].isdigit():
        return "number"
    return "word" if token[0].isalpha() else token[0]


def mutated(text: str, generator: random.Random) -> str:
    """A text with a token or two changed; half the time into another one of its kind, so that more texts parse."""
    tokens = [token for token in TOKEN.findall(text) if not token.startswith("//")]
    words = [i for i, token in enumerate(tokens) if not token.isspace()]
    gentle = generator.random() < 0.7
    for _ in range(generator.randint(1, 2)):
        at = generator.choice(words)
        alike = [i for i in words if kind(tokens[i] or " ") == kind(tokens[at] or " ")]
        other = generator.choice(alike if gentle else words)
        match generator.randrange(5):
            case 0 | 1:
                tokens[at] = tokens[other]
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3 if not gentle:
                tokens[at] = generator.choice(["", f"{tokens[at]} {tokens[at]}"])
            case _:
                odd = [word for word in ODD if not gentle or kind(word) == kind(tokens[at] or " ")]
                tokens[at] = generator.choice(odd or [tokens[other]])
    return "".join(tokens)


def programs(count: int) -> Iterator[tuple[str, str]]:
    """Mutated texts, each with a pass to run; the passes take turns."""
    passes = list(PASSES)
    for seed in range(count):
        generator = random.Random(seed)
        yield mutated(generator.choice(TEXTS), generator), passes[seed % len(passes)]


def test_every_pass_gets_its_turn() -> None:
    assert {each for _, each in programs(RUNS)} == set(PASSES)


def test_malformed_texts_end_with_diagnostics(
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = request.config.getoption("--full")
    for text, name in programs(RUNS * (FULL if full else 1)):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        code = main([f"-{name}"])
        error = capsys.readouterr().err
        assert code in (0, 1) and bool(code) == (": error: " in error), f"{name}\n{error}\n{text}"
        assert "Traceback" not in error
        assert "no message of its own" not in error, f"{name}\n{error}\n{text}"
