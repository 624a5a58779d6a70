"""PyTorch's own samples of operators, modules and optimizers through torch.compile, beside eager mode.

``python -m tests.dynamo.material ops --every 10`` prints what agrees, what differs and what runs in PyTorch.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from tests.dynamo.agreement import compiled
from tests.opdb.invariants import of_factors
from tests.opdb.outcome import largest_of
from tests.opdb.programs import UNINITIALIZED
from torch2mlir import dynamo

_SAMPLES = 2
_TOLERANCE = 2e-4
"""Of elements, or of a fifth of the largest beside them, as for the operator database: sums of products cancel."""


@dataclass(frozen=True)
class Item:
    """One entry of a database: its name and what runs its samples and raises where they differ from eager mode."""

    name: str
    run: Callable[[], None]


class EagerFailure(Exception):
    """A sample that eager mode itself does not run here: no device for it, or no gradient of what it gives."""


def _eager(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise EagerFailure(str(error)) from error

    return run


def leaves(value: Any) -> list[torch.Tensor]:
    return [t for t in pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def copied(value: Any) -> Any:
    def copy_of(t: Any) -> Any:
        if not isinstance(t, torch.Tensor):
            return t
        return t.detach().clone().requires_grad_(t.requires_grad)

    return pytree.tree_map(copy_of, value)


def _dense(t: torch.Tensor) -> torch.Tensor:
    return t if t.layout == torch.strided else t.to_dense()


def agree(function: Callable[..., Any], arguments: Any, options: dict[str, Any] | None) -> None:
    """Results and gradients of a call equal eager mode's."""
    found = []
    for run in (_eager(function), compiled(function, options)):
        args, kwargs = copied(arguments)
        torch.manual_seed(0)
        results = leaves(run(*args, **kwargs))
        inputs = [t for t in leaves((args, kwargs)) if t.requires_grad and t.is_leaf]
        differentiable = [t for t in results if t.requires_grad]
        gradients: list[Any] = []
        if inputs and differentiable:
            try:
                ones = [torch.ones_like(t) for t in differentiable]
                gradients = list(
                    torch.autograd.grad(differentiable, inputs, ones, allow_unused=True)
                )
            except RuntimeError as error:
                if found:
                    raise
                raise EagerFailure(str(error)) from error
        found.append(([t.detach() for t in results], gradients))
    for theirs, ours in zip(*found, strict=True):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert (a is None) == (b is None)
            if b is not None:
                assert a.layout == b.layout
                a, b = _dense(a), _dense(b)
                atol = _TOLERANCE * max(1.0, largest_of(b) / 5)
                torch.testing.assert_close(a, b, rtol=_TOLERANCE, atol=atol, equal_nan=True)


def operators(options: dict[str, Any] | None) -> Iterator[Item]:
    """The operator database: the first float32 samples of each."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        if torch.float32 not in info.dtypes:
            continue

        def run(info: Any = info) -> None:
            grad = bool(info.supports_autograd)
            samples = info.sample_inputs("cpu", torch.float32, requires_grad=grad)
            for sample in itertools.islice(samples, _SAMPLES):
                torch._dynamo.reset()
                arguments = ((sample.input, *sample.args), sample.kwargs)

                def function(*args: Any, info: Any = info, **kwargs: Any) -> Any:
                    result = of_factors(info.name, info.op(*args, **kwargs))
                    return torch.zeros_like(result) if info.name in UNINITIALIZED else result

                agree(function, arguments, options)

        yield Item(f"{info.name} {info.variant_test_name}".strip(), run)


def modules(options: dict[str, Any] | None) -> Iterator[Item]:
    """The module database: every nn.Module, in training, with gradients of its input and parameters."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        if issubclass(info.module_cls, torch.nn.modules.lazy.LazyModuleMixin):
            continue  # has no parameters before its first call

        def run(info: Any = info) -> None:
            samples = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=True
            )
            for sample in itertools.islice(samples, _SAMPLES):
                torch._dynamo.reset()
                made = sample.constructor_input
                module = info.module_cls(*made.args, **made.kwargs)
                called = sample.forward_input
                parameters = dict(module.named_parameters())
                buffers = dict(module.named_buffers())

                def function(state: Any, *args: Any, module: Any = module, **kwargs: Any) -> Any:
                    results = torch.func.functional_call(module, state, args, kwargs)
                    return results, [state[name] for name in dict(module.named_buffers())]

                state = {**parameters, **buffers}
                agree(function, ((state, *called.args), called.kwargs), options)

        yield Item(info.name, run)


def optimizers(options: dict[str, Any] | None) -> Iterator[Item]:
    """The optimizer database: three compiled steps."""
    from torch.testing._internal.common_optimizers import optim_db

    for info in optim_db:
        if info.optim_cls is torch.optim.LBFGS:  # its step takes a closure
            continue
        for entry in info.optim_inputs_func(device="cpu"):

            def run(info: Any = info, entry: Any = entry) -> None:
                torch._dynamo.reset()
                ours = torch.nn.Linear(4, 4, bias=False)
                theirs = copy.deepcopy(ours)
                made = [
                    info.optim_cls(model.parameters(), **entry.kwargs) for model in (ours, theirs)
                ]
                steps = [_eager(lambda: made[1].step()), compiled(lambda: made[0].step(), options)]
                # Muon iterates in bfloat16, which eager mode rounds to after every operation
                tolerance = 1e-2 if info.optim_cls is torch.optim.Muon else 2e-4
                for turn in range(3):
                    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(turn))
                    for model, step in zip((theirs, ours), steps, strict=True):
                        model.zero_grad()
                        model(x).square().sum().backward()
                        step()
                    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
                        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance / 10)

            yield Item(f"{info.name} {entry.desc}", run)


DATABASES = {"ops": operators, "modules": modules, "optimizers": optimizers}


def outcome(item: Item) -> tuple[str, str]:
    """What became of an entry, and why: ``equal`` and its kinds, ``differs``, ``fails``, or ``no sample`` of eager's."""
    dynamo.reset_metrics()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            item.run()
    except EagerFailure as error:
        return "no sample", str(error)
    except torch._dynamo.exc.TorchDynamoException as error:
        is_ours = isinstance(error, torch._dynamo.exc.BackendCompilerFailed)
        return "fails" if is_ours else "no sample", str(error)
    except AssertionError as error:
        return "differs", str(error)
    except Exception as error:
        return "fails", f"{type(error).__name__}: {error}"
    left = dynamo.metrics().fallbacks
    return ("equal, part in PyTorch", ", ".join(left)) if left else ("equal", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", choices=DATABASES)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--engine")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    options = {"engine": asked.engine} if asked.engine else None
    items = list(DATABASES[asked.database](options))[asked.start :: asked.every]
    counts = Counter[str]()
    for item in items:
        if asked.only and asked.only not in item.name:
            continue
        result, reason = outcome(item)
        counts[result] += 1
        if result != "equal":
            print(f"{item.name}: {result}: {reason[:300]!r}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
