"""Random models: what user code does around ops. Every call through every entrance against eager mode's.

    python -m tests.fuzz.models --count 500 --seed 7 --through compile,optimize

Between its calls a model is changed as users change it. A model may be refused by ``compile``, as may a call, or a
warning may say that a compiled function goes on with what was captured; ``optimize`` and ``torch.compile`` take everything.
"""

from __future__ import annotations

import argparse
import copy
import functools
import itertools
import linecache
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

import torch2mlir
from tests.fuzz.model_statements import (
    ACTIONS,
    HEAD,
    RESULTS,
    STATEMENTS,
    STATEMENTS_OF_ARGUMENTS,
    WIDTH,
    Statement,
)
from tests.fuzz.program import random_from
from torch2mlir.errors import Torch2MLIRError

CALLS = 4
GOES_ON = "goes on with"
"""Of a warning that tells that the model is another than the compiled function's."""
TARGET = {"output_type": "linalg-on-tensors", "engine": "reference"}


@dataclass(frozen=True)
class Model:
    """A random model and what happens to it.

    Attributes:
        seed: of its weights and arguments.
        parts: for each of its modules, statements as text of ``__init__`` and of ``forward``.
        lines: statements of the whole, of the same kind.
        result: an expression.
        training: its mode at first.
        actions: before the second call and those after it.
        rows: of the arguments of each call.
    """

    seed: int
    parts: tuple[tuple[tuple[str, str], ...], ...]
    lines: tuple[tuple[str, str], ...]
    result: str
    training: bool
    actions: tuple[str, ...]
    rows: tuple[int, ...]

    def text(self) -> str:
        """The classes."""
        result = "x * self.scale * self.factor"
        text = [_of_class(f"Part{i}", "x", part, result) for i, part in enumerate(self.parts)]
        parts = ", ".join(f"Part{i}()" for i in range(len(self.parts)))
        calls = [("", f"x = self.parts[{i}](x)") for i in range(len(self.parts))]
        lines = [
            (f"self.parts = nn.ModuleList([{parts}])", 'x = batch["x"]\ny = batch["y"]'),
            ("self.config = SimpleNamespace(scale=1, more=dict(offset=0))", _OF_CONFIG),
            *calls,
            *self.lines,
        ]
        return "\n".join([*text, _of_class("Model", "batch", lines, self.result)])

    def report(self) -> str:
        """The classes, and how they are used."""
        mode = "train" if self.training else "eval"
        actions = [f"# before call {i + 2}: {a!r}" for i, a in enumerate(self.actions) if a]
        return "\n".join(
            [f"# seed {self.seed}, .{mode}(), rows {self.rows}", *actions, self.text()]
        )

    def module(self) -> nn.Module:
        """The model, with the same weights every time."""
        source = HEAD + self.text()
        file = f"fuzz_model_{abs(hash(source))}.py"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        namespace: dict[str, Any] = {"torch": torch, "nn": nn, "itertools": itertools}
        namespace |= {"SimpleNamespace": SimpleNamespace, "__name__": file.removesuffix(".py")}
        exec(compile(source, file, "exec"), namespace)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            made: nn.Module = namespace["Model"]()
        made.__dict__["space"] = _Unseen(namespace)
        return made.train(self.training)

    def batch(self, call: int) -> dict[str, Any]:
        """The argument of a call."""
        generator = torch.Generator().manual_seed(self.seed * 31 + call)
        shape = (self.rows[call], WIDTH)
        x, y = (torch.randint(-4, 5, shape, generator=generator) / 4 for _ in range(2))
        return {"x": x, "y": y, "seen": [torch.ones(())] if self.seed % 2 else []}


_OF_CONFIG = "x = x * self.config.scale + self.config.more['offset']"


class _Unseen:
    """The global variables of a model, for what its user does; not for its code."""

    __slots__ = ("_space",)

    def __init__(self, space: dict[str, Any]) -> None:
        self._space = space

    def __getitem__(self, name: str) -> Any:
        return self._space[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._space[name] = value


def _of_class(name: str, argument: str, lines: Sequence[tuple[str, str]], result: str) -> str:
    common = f"self.scale = 1.0\nself.factor = nn.Parameter(torch.ones({WIDTH}))"
    init = ["super().__init__()", common, *(first for first, _ in lines)]
    forward = [*(second for _, second in lines), f"return {result}"]

    def indented(blocks: list[str]) -> list[str]:
        return [f"        {line}" for block in blocks if block for line in block.split("\n")]

    head = [f"class {name}(nn.Module):", "    def __init__(self):", *indented(init)]
    return "\n".join([*head, f"    def forward(self, {argument}):", *indented(forward), ""])


def model_of(seed: int) -> Model:
    """The model of a seed."""
    choices = random_from(seed ^ 0x30DE15)
    names = (f"n{i}" for i in range(100))
    parts = tuple(
        tuple(_chosen(choices, STATEMENTS, names) for _ in range(choices.randint(1, 3)))
        for _ in range(choices.randint(1, 2))
    )
    of_whole = (*STATEMENTS[:3], *STATEMENTS_OF_ARGUMENTS)
    lines = tuple(_chosen(choices, of_whole, names) for _ in range(choices.randint(0, 2)))
    rows = [choices.randint(1, 4)] * CALLS
    if choices.random() < 0.2:
        rows[-1] += 1
    actions = tuple(
        choices.choice(ACTIONS).format(k=choices.randint(2, 3)) if choices.random() < 0.4 else ""
        for _ in range(CALLS - 1)
    )
    result = choices.choice(RESULTS)
    return Model(seed, parts, lines, result, choices.random() < 0.6, actions, tuple(rows))


def _chosen(
    choices: random.Random, statements: Sequence[Statement], names: Iterator[str]
) -> tuple[str, str]:
    [chosen] = choices.choices(statements, [s.weight for s in statements])
    words = {"n": next(names), "k": choices.randint(2, 3)}
    return _filled(chosen.init, words), _filled(chosen.body, words)


def _filled(text: str, words: dict[str, Any]) -> str:
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


Function = Callable[[dict[str, Any]], Any]
Entrance = Callable[[nn.Module, dict[str, Any]], Function]


def _compile(model: nn.Module, batch: dict[str, Any]) -> Function:
    return torch2mlir.compile(model, batch, **TARGET)


def _compile_function(model: nn.Module, batch: dict[str, Any]) -> Function:
    return torch2mlir.compile(functools.partial(_called, model), batch, **TARGET)


def _called(model: nn.Module, batch: dict[str, Any]) -> Any:
    return model(batch)


def _optimize(model: nn.Module, batch: dict[str, Any]) -> Function:
    return torch2mlir.optimize(
        model, model_inputs=(batch,), verify=False, min_cluster_size=1, **TARGET
    )


def _torch_compile(model: nn.Module, batch: dict[str, Any]) -> Function:
    torch._dynamo.reset()
    return torch.compile(model, backend="torch2mlir", options=TARGET)


def _aot_eager(model: nn.Module, batch: dict[str, Any]) -> Function:
    torch._dynamo.reset()
    return torch.compile(model, backend="aot_eager")


ENTRANCES: dict[str, Entrance] = {
    "compile": _compile,
    "function": _compile_function,
    "optimize": _optimize,
    "torch.compile": _torch_compile,
}
MAY_REFUSE = ("compile", "function")
WITHOUT_US = {"torch.compile": _aot_eager}
"""What PyTorch makes of a model by itself: TorchDynamo does not look for hooks that came later."""


def finding(model: Model, name: str, tally: Counter[tuple[str, str]]) -> str:
    """How a model differs from eager mode's through an entrance, in the first call in which it does; or nothing."""
    found = _finding(model, name, ENTRANCES[name], tally)
    if found and name in WITHOUT_US and _finding(model, name, WITHOUT_US[name], Counter()):
        tally[name, "PyTorch's own difference"] += 1
        return ""
    return found


def _finding(model: Model, name: str, entrance: Entrance, tally: Counter[tuple[str, str]]) -> str:
    eager, own = model.module(), model.module()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with torch.no_grad():
                function = entrance(own, model.batch(0))
        except Torch2MLIRError as error:
            return _refused(name, error, tally)
        except Exception as error:
            return "" if _is_refused(model) else f"compile: {_reason(error)}"
        if found := _difference(own.state_dict(), eager.state_dict()):
            return f"compile changed the state: {found}"
        for call in range(CALLS):
            if call and model.actions[call - 1]:
                for each in (eager, own):
                    exec(model.actions[call - 1], {"model": each, "nn": nn, "torch": torch})
            theirs, taken = model.batch(call), model.batch(call)
            expected = _result_of(eager, theirs)
            if isinstance(expected, Exception):
                tally[name, "refused by eager mode"] += 1
                return ""
            result = _result_of(function, taken)
            if any(GOES_ON in str(warning.message) for warning in told):
                tally[name, "told"] += 1
                return ""
            if isinstance(result, Torch2MLIRError):
                return _refused(name, result, tally)
            if isinstance(result, Exception):
                return f"call {call + 1}: {_reason(result)}"
            for what, one, other in (
                ("result", result, expected),
                ("argument", taken, theirs),
                ("state", own.state_dict(), eager.state_dict()),
            ):
                if found := _difference(one, other):
                    return f"call {call + 1}, {what}: {found}"
            tally[name, "right"] += 1
    return ""


def _refused(name: str, error: Torch2MLIRError, tally: Counter[tuple[str, str]]) -> str:
    tally[name, f"refused: {_reason(error)}"] += 1
    return "" if name in MAY_REFUSE else _reason(error)


def _is_refused(model: Model) -> bool:
    return isinstance(_result_of(model.module(), model.batch(0)), Exception)


def _result_of(function: Function, batch: dict[str, Any]) -> Any:
    """What a call returns, copied, or the error it raises."""
    with torch.no_grad():
        try:
            return copy.deepcopy(function(batch))
        except Exception as error:
            return error


def _difference(one: Any, other: Any) -> str:
    """How a tree of tensors and numbers differs from another, or nothing."""
    ours, spec = pytree.tree_flatten_with_path(one)
    theirs, expected = pytree.tree_flatten_with_path(other)
    if spec != expected:
        return f"{spec} where eager mode has {expected}"
    for (path, a), (_, b) in zip(ours, theirs, strict=True):
        at = pytree.keystr(path)
        if type(a) is not type(b) and not isinstance(b, torch.Tensor):
            return f"{at} is {a!r} where eager mode has {b!r}"
        if isinstance(b, float):
            a, b = torch.tensor(a), torch.tensor(b)
        if isinstance(b, torch.Tensor):
            try:
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
            except AssertionError as error:
                return f"{at}: {str(error).strip().splitlines()[0]}: {a} {b}"
        elif a != b:
            return f"{at} is {a!r} where eager mode has {b!r}"
    return ""


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:100]}"


def reduced(model: Model, name: str) -> Model:
    """The model without the statements and actions that it differs without as well."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(model):
            if finding(smaller, name, Counter()):
                model, is_smaller = smaller, True
                break
    return model


def _smaller(model: Model) -> Iterator[Model]:
    for i, part in enumerate(model.parts):
        for j in range(len(part)):
            without = (*part[:j], *part[j + 1 :])
            yield replace(model, parts=(*model.parts[:i], without, *model.parts[i + 1 :]))
    for i in range(len(model.lines)):
        yield replace(model, lines=(*model.lines[:i], *model.lines[i + 1 :]))
    for i, action in enumerate(model.actions):
        if action:
            yield replace(model, actions=(*model.actions[:i], "", *model.actions[i + 1 :]))
    if model.result != "x":
        yield replace(model, result="x")


def main() -> int:
    """Runs a campaign; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.models", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many models")
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new ones after")
    parser.add_argument("--through", default=",".join(ENTRANCES))
    parser.add_argument("--show", action="store_true", help="print the models")
    options = parser.parse_args()
    until, failed = time.monotonic() + 60 * options.minutes, 0
    tally = Counter[tuple[str, str]]()
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() > until:
            break
        model = model_of(seed)
        if options.show:
            print(model.report())
            continue
        for name in options.through.split(","):
            if found := finding(model, name, tally):
                failed += 1
                smallest = reduced(model, name)
                found = finding(smallest, name, Counter()) or found
                print(f"## {name}: {found}\n{smallest.report()}", flush=True)
    for (name, what), count in tally.most_common(60):
        print(f"{count:5} {name}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
