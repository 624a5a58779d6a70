"""The random programs one by one through every entrance, each call against eager mode's.

    python -m tests.fuzz.entrances --count 500 --seed 7 --through torch.compile,optimize --on tosa-iree
    python -m tests.fuzz.entrances --families constants,writes --through compile --on linalg-reference

These are ``compile`` (``python -m tests.fuzz`` exports several programs as one, and asks its parts),
``torch.compile(backend="torch2mlir")``, ``optimize`` (which may not fail at all), TorchScript, the lazy device,
artefacts that are saved and loaded, and sizes rounded up to buckets, by padding that no result may take in.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from tests.fuzz import families as _kinds  # noqa: F401 - registers the lines
from tests.fuzz.check import call_difference
from tests.fuzz.generate import FAMILIES, generate
from tests.fuzz.program import Program
from tests.fuzz.trial import CONFIGURATIONS, Trial
from torch2mlir import lazy
from torch2mlir.errors import ArtefactError
from torch2mlir.program import Signature, StateInput

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class Entered:
    """A program that was taken.

    Attributes:
        function: called as the program is.
        module: what has the program's state.
    """

    function: Callable[..., Any]
    module: Any


@dataclass(frozen=True)
class Target:
    """What a program is compiled to, as keywords of every entrance."""

    output_type: str
    engine: str


class NotTheSame(Exception):
    """PyTorch itself makes two programs of one."""


def _sizes_that_vary(program: Program) -> tuple[dict[int, Any], ...]:
    """As ``dynamic_shapes`` of the arguments."""
    names = {size for x in program.inputs for size in x.shape if isinstance(size, str)}
    varies = {name: Dim(name, max=program.sizes.largest) for name in names}
    return tuple(
        {axis: varies[size] for axis, size in enumerate(x.shape) if isinstance(size, str)}
        for x in program.inputs
    )


@contextmanager
def _compile(program: Program, arguments: Tensors, target: Target) -> Iterator[Entered]:
    model, shapes = program.module(), _sizes_that_vary(program)
    yield Entered(
        torch2mlir.compile(model, *arguments, dynamic_shapes=shapes, **asdict(target)), model
    )


@contextmanager
def _torch_compile(program: Program, _: Tensors, target: Target) -> Iterator[Entered]:
    model = program.module()
    torch._dynamo.reset()
    options = asdict(target)
    yield Entered(torch.compile(model, backend="torch2mlir", dynamic=True, options=options), model)


@contextmanager
def _optimize(program: Program, arguments: Tensors, target: Target) -> Iterator[Entered]:
    model = program.module()
    options = {**asdict(target), "verify": False, "min_cluster_size": 1}
    yield Entered(torch2mlir.optimize(model, model_inputs=tuple(arguments), **options), model)


@contextmanager
def _torchscript(program: Program, arguments: Tensors, target: Target) -> Iterator[Entered]:
    model = program.module()
    script = torch.jit.script(model)
    _must_mean_the_same(model, script, arguments)
    yield Entered(torch2mlir.compile(script, *arguments, **asdict(target)), script)


def _must_mean_the_same(model: nn.Module, script: nn.Module, arguments: Tensors) -> None:
    """Refuses what TorchScript reads as another program: dtypes are integers there, and ``x.view(torch.int32)`` a shape."""
    with torch.no_grad():
        found = [deepcopy(each)(*[x.clone() for x in arguments]) for each in (model, script)]
    theirs, scripted = ([(x.dtype, x.shape) for x in results] for results in found)
    if theirs != scripted:
        raise NotTheSame(f"eager mode's results are {theirs}, TorchScript's {scripted}")


@contextmanager
def _lazy_device(program: Program, _: Tensors, target: Target) -> Iterator[Entered]:
    with lazy.device(**asdict(target)) as device:
        moved = program.module().to(device)

        def call(*arguments: torch.Tensor) -> list[torch.Tensor]:
            there = [x.to(device) for x in arguments]
            results = moved(*there)
            lazy.mark_step()
            for own, written in zip(arguments, there, strict=True):
                own.copy_(written.cpu())
            return [x.cpu() for x in results]

        yield Entered(call, moved)


@dataclass(frozen=True)
class _StateOf:
    """The state of a program that has no module."""

    signature: Signature

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The weights and buffers that the program takes, by the names they have in the module."""
        inputs = self.signature.inputs
        return {item.name: item.tensor for item in inputs if isinstance(item, StateInput)}


@contextmanager
def _artefact(program: Program, arguments: Tensors, target: Target) -> Iterator[Entered]:
    compiled = torch2mlir.compile(program.module(), *arguments, **asdict(target))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "program.artefact"
        torch2mlir.save(compiled, path)
        loaded = torch2mlir.load(path)
        yield Entered(loaded, _StateOf(loaded.calling.signature))


ROUNDED_TO = (3, 6, 22, 45)
"""None of the sizes that programs are called with, so that most calls are padded; the largest sizes are not."""


@contextmanager
def _buckets(program: Program, arguments: Tensors, target: Target) -> Iterator[Entered]:
    model, shapes = program.module(), _sizes_that_vary(program)
    names = {size for x in program.inputs for size in x.shape if isinstance(size, str)}
    largest = program.sizes.largest
    rounded_to = [*(size for size in ROUNDED_TO if size < largest), largest]
    yield Entered(
        torch2mlir.compile(
            model,
            *arguments,
            dynamic_shapes=shapes,
            buckets=dict.fromkeys(names, rounded_to),
            **asdict(target),
        ),
        model,
    )


ENTRANCES = {
    "compile": _compile,
    "torch.compile": _torch_compile,
    "optimize": _optimize,
    "torchscript": _torchscript,
    "lazy": _lazy_device,
    "artefact": _artefact,
    "buckets": _buckets,
}
MAY_NOT_REFUSE = {"optimize"}
MAY_VARY = {"compile", "torch.compile", "optimize", "buckets"}
"""Entrances that take sizes as they come."""
MUST_VARY = {"buckets"}


XLA = Target(*CONFIGURATIONS["stablehlo-xla"])


def difference(trial: Trial, name: str, target: Target) -> str:
    """How a program differs from eager mode's through an entrance, or nothing.

    Raises:
        Exception: it is refused.
    """
    program, first = trial.program, trial.calls[0]
    examples = program.arguments(first.draw, first.sizes)
    with ENTRANCES[name](program, examples, target) as entered:
        for turn, call in enumerate(trial.calls):
            arguments = program.arguments(call.draw, call.sizes)
            before = _state(entered.module)
            with torch.no_grad():
                results = list(entered.function(*arguments))
            after = _state(entered.module)
            state = {key: (value, after[key]) for key, value in before.items()}
            if found := call_difference(trial, turn, results, arguments, state):
                return f"call {turn + 1} ({dict(call.sizes)}): {found}"
    return ""


def _state(module: Any) -> dict[str, torch.Tensor]:
    # a loaded program does not know the weights that its code has: they are None
    state = module.state_dict()
    return {key: kept.detach().cpu().clone() for key, kept in state.items() if kept is not None}


def findings(
    first: int,
    count: int,
    names: Sequence[str],
    right: Counter[str],
    target: Target = XLA,
    until: float = float("inf"),
    dynamic: bool | None = None,
    families: Sequence[str] = (),
) -> Iterator[str]:
    """What differs of the programs of consecutive seeds, and what may not be refused and is.

    Args:
        first: the first program's seed.
        count: how many programs.
        names: of :data:`ENTRANCES`.
        right: counts by entrance the programs that agree.
        target: what they are compiled to.
        until: of ``time.monotonic``, when no new program is taken.
        dynamic: whether sizes vary; the seeds decide if it is None.
        families: kinds of lines, those of all campaigns if empty.
    """
    for seed in range(first, first + count):
        if time.monotonic() > until:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = generate(seed, families, dynamic)
            yield from _of_program(program, names, right, target)


def _of_program(
    program: Program, names: Sequence[str], right: Counter[str], target: Target
) -> Iterator[str]:
    try:
        calls = (trial := Trial(program)).calls
    except Exception:  # eager mode refuses it
        return
    compiles = False
    for name in names:
        if not calls or name not in (MAY_VARY if program.dynamic else ENTRANCES.keys() - MUST_VARY):
            continue
        try:
            found = difference(trial, name, target)
        except Exception as error:
            is_unexpected = name == "artefact" and compiles and not isinstance(error, ArtefactError)
            if name in MAY_NOT_REFUSE or is_unexpected:
                yield f"{name}: {type(error).__name__}: {error}\n{program.report()}"
            continue
        right[name] += not found
        compiles |= name == "compile" and not found
        if found:
            yield f"{name}: {found}\n{program.report()}"


def main() -> int:
    """Runs a campaign; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.entrances", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new ones after")
    parser.add_argument("--families", default="", help=f"of {', '.join(sorted(FAMILIES))}")
    parser.add_argument("--through", default=",".join(ENTRANCES))
    parser.add_argument("--on", default="stablehlo-xla", choices=CONFIGURATIONS)
    parser.add_argument(
        "--dynamic",
        action=argparse.BooleanOptionalAction,
        help="only programs whose sizes vary, or none",
    )
    options = parser.parse_args()
    right, failed = Counter[str](), 0
    names = [name for name in ENTRANCES if name in options.through.split(",")]
    until = time.monotonic() + 60 * options.minutes
    target = Target(*CONFIGURATIONS[options.on])
    programs = options.seed, options.count
    families = tuple(part for part in options.families.split(",") if part)
    for finding in findings(*programs, names, right, target, until, options.dynamic, families):
        failed += 1
        print(f"## {finding}", flush=True)
    print(f"{failed} findings; right:", ", ".join(f"{name} {right[name]}" for name in names))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
