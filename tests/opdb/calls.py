"""Every ATen overload that PyTorch's operator database calls, forward and backward, with arguments of a real call.

python -m tests.opdb.calls               # which of them do not reach the backend contract
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from tests.opdb.outcome import first_line
from tests.opdb.programs import Program, plain, samples_of
from torch2mlir.frontends.capture import capture
from torch2mlir.pipeline import Pipeline

_DTYPES = (torch.float32, torch.int64, torch.complex64)
_SAMPLES = 4


class _Recorder(TorchDispatchMode):
    """Keeps the arguments of the first call of every overload."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[OpOverload, Any] = {}

    def __torch_dispatch__(
        self, overload: OpOverload, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if overload not in self.calls:
            self.calls[overload] = _copied((args, kwargs))
        return overload(*args, **kwargs)


def _copied(arguments: Any) -> Any:
    """Arguments that a call in place does not change."""
    return pytree.tree_map_only(torch.Tensor, lambda x: x.detach().clone(), arguments)


@lru_cache(maxsize=1)
def recorded(share: int = 1) -> dict[str, tuple[OpOverload, Program]]:
    """Overload -> a program that calls it, in order of name.

    Args:
        share: one entry of the database in so many is run.
    """
    recorder = _Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db:
            if zlib.crc32(info.full_name.encode()) % share:
                continue
            for dtype in _DTYPES:
                if dtype in info.dtypes:
                    _run_samples(recorder, info, dtype)
    programs = {
        str(overload): (overload, Program(plain(overload), arguments))
        for overload, arguments in recorder.calls.items()
        if overload.namespace in ("aten", "prims")
    }
    return dict(sorted(programs.items()))


def _run_samples(recorder: _Recorder, info: Any, dtype: torch.dtype) -> None:
    differentiable = dtype.is_floating_point and info.supports_autograd
    torch.manual_seed(0)
    try:
        samples = samples_of(info, dtype, differentiable)[:_SAMPLES]
    except RuntimeError:  # of a dtype or a library this machine has not
        return
    for sample in samples:
        try:
            with recorder:
                _forward_and_backward(info, sample, differentiable)
        except Exception:  # eager PyTorch itself refuses the sample
            continue


def _forward_and_backward(info: Any, sample: Any, differentiable: bool) -> None:
    outputs = info.op(sample.input, *sample.args, **sample.kwargs)
    if differentiable:
        roots = [
            leaf
            for leaf in pytree.tree_leaves(outputs)
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad
        ]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])


def failure(program: Program) -> str:
    """Why a call does not reach the backend contract; empty if it does."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            program(*program.tensors)
        except Exception:
            return ""  # eager PyTorch cannot do it outside of what it was recorded in
        try:
            exported = torch.export.export(program, program.tensors)
        except DynamicOutputShapeException:
            return ""  # PyTorch has no shapes for the op by itself, and takes what calls it apart
        except Exception as error:
            return first_line(error)
        try:
            Pipeline.to("torch").lower(capture(exported))
        except Exception as error:
            return first_line(error)
    return ""


def failures() -> Iterator[tuple[str, str]]:
    """The overloads that do not reach the contract, and why."""
    for name, (_, program) in track(
        recorded().items(), description="calls", console=Console(stderr=True)
    ):
        if reason := failure(program):
            yield name, reason


def main() -> int:
    """Print what does not reach the contract."""
    torch.set_num_threads(1)
    found = list(failures())
    table = Table("overload", "reason", title=f"{len(found)} of {len(recorded())} calls")
    for name, reason in found:
        table.add_row(name, reason.replace("[", "\\["))
    Console(width=max(Console().width, 180)).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
