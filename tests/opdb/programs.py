"""PyTorch's own operator database as programs: every entry, its sample inputs, and what eager PyTorch says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import nn
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES = ("float32", "int64")
"""Those whose outcomes are on record."""
FURTHER = (
    *("bool", "uint8", "int8", "int16", "int32"),
    *("float16", "bfloat16", "float64", "complex64"),
)
"""Others, of which no answer is to be wrong."""

RANDOM = {
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "native_dropout_backward",
    "nn.functional.alpha_dropout",
    "nn.functional.dropout",
    "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout.with_train",
    "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu",
    "normal",
    "normal.in_place",
    "normal.number_mean",
    "pca_lowrank",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "svd_lowrank",
    "uniform",
}
UNINITIALIZED = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}
INCOMPARABLE = RANDOM | UNINITIALIZED
"""Entries whose elements differ from call to call: structure, shapes and dtypes are compared."""


DROPOUT = {"nn.functional.multi_head_attention_forward": 10}
"""Operators that draw in some samples only -> the place of their dropout probability."""


@dataclass(frozen=True)
class Entry:
    """One operator of the database in one dtype."""

    operator: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.operator} {self.dtype}"

    @property
    def info(self) -> Any:
        """PyTorch's ``OpInfo``."""
        return _by_name()[self.operator]


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Any]:
    return {".".join(filter(None, (info.name, info.variant_test_name))): info for info in op_db}


def entries(dtypes: Iterable[str] = DTYPES) -> Iterator[Entry]:
    """All operators x dtypes that the CPU has."""
    for name, info in _by_name().items():
        for dtype in dtypes:
            if getattr(torch, dtype) in info.dtypes:
                yield Entry(name, dtype)


class Program(nn.Module):
    """A call of an operator: tensors are its inputs, everything else is constant."""

    def __init__(self, operator: Callable[..., Any], arguments: Any) -> None:
        super().__init__()
        self.operator = operator
        leaves, self.spec = pytree.tree_flatten(arguments)
        self.constants = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = tuple(leaves[i].detach() for i in self.positions)

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Calls the operator on copies: what it writes into is not the caller's."""
        args, kwargs = self.arguments(*(tensor.clone() for tensor in tensors))
        return _plain(self.operator(*args, **kwargs))

    def arguments(self, *tensors: torch.Tensor) -> Any:
        """Positional and keyword arguments of the call."""
        leaves = list(self.constants)
        for position, tensor in zip(self.positions, tensors, strict=True):
            leaves[position] = tensor
        return pytree.tree_unflatten(leaves, self.spec)


def is_comparable(entry: Entry, program: Program) -> bool:
    """Whether eager PyTorch gives the same elements at every call."""
    if entry.operator in DROPOUT:
        args, kwargs = program.arguments(*program.tensors)
        return not (kwargs.get("training", True) and args[DROPOUT[entry.operator]])
    return entry.operator not in INCOMPARABLE


def plain(overload: Callable[..., Any]) -> Callable[..., Any]:
    """A call whose results are new tensors: what is written in place, or is a view, is the value it has."""

    def call(*args: Any, **kwargs: Any) -> Any:
        outputs = overload(*args, **kwargs)
        return pytree.tree_map_only(torch.Tensor, torch.clone, outputs)

    return call


def _plain(outputs: Any) -> Any:
    """Tuples of tensors and numbers: PyTorch's named tuples are its own affair."""
    if isinstance(outputs, tuple | list):
        return tuple(_plain(output) for output in outputs)
    return outputs


def samples_of(info: Any, dtype: torch.dtype, requires_grad: bool = False) -> list[Any]:
    """The samples of an operator in the database.

    PyTorch reads the source of the whole call stack for each of them, so that this takes minutes under pytest; a thread has
    a short stack.
    """

    def samples() -> list[Any]:
        return list(info.sample_inputs("cpu", dtype, requires_grad=requires_grad))

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(samples).result()


def programs(entry: Entry, count: int) -> list[Program]:
    """``count`` samples spread over those of the database, the same at every call."""
    torch.manual_seed(0)
    info = entry.info
    found = samples_of(info, getattr(torch, entry.dtype))
    if not found:
        return []
    chosen = sorted({round(i * (len(found) - 1) / max(count - 1, 1)) for i in range(count)})
    return [Program(info.op, _arguments(found[i])) for i in chosen]


def _arguments(sample: Any) -> Any:
    return ((sample.input, *sample.args), dict(sample.kwargs))
