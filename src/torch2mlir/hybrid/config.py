"""What ``optimize`` may put into clusters: engine, dialect, smallest cluster, ops asked for and ops kept out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from torch2mlir.errors import InputError
from torch2mlir.runtime.engine import Engine

WHITE_LIST_VARIABLE = "TORCH_MHLO_OP_WHITE_LIST"
BLACK_LIST_VARIABLE = "TORCH_MHLO_OP_BLACK_LIST"


def op_list(text: str) -> frozenset[str]:
    """The ops of a list in TorchBlade's form, ``"aten::batch_norm_a;aten::activation_b;"``."""
    return frozenset(name.strip() for name in text.split(";") if name.strip())


def is_listed(names: Iterable[str], name: str, overload: str) -> bool:
    """Whether an op is in a list; ``aten::add`` stands for every overload, ``aten::add.Tensor`` for one."""
    return name in names or f"{name}.{overload or 'default'}" in names


@dataclass(frozen=True)
class Config:
    """What ``optimize`` and ``partition`` may do.

    Attributes:
        engine: ``xla``, ``iree``, ``reference``, an engine object, or None for the dialect's own.
        output_type: the dialect of the clusters; None for the one the engine does most with.
        white_list: ops to try although no lowering or decomposition of them is known, as ``aten::add`` (every
            overload) or ``aten::add.Tensor``; those of ``TORCH_MHLO_OP_WHITE_LIST`` (separated by semicolons) are
            added. An op that then cannot be compiled stays in PyTorch.
        black_list: ops to leave to PyTorch; those of ``TORCH_MHLO_OP_BLACK_LIST`` are added.
        min_cluster_size: the fewest ops, views not counted, that are worth a compiled function.
        verify: compare each cluster with PyTorch at optimization, and leave to PyTorch what differs.
        tune: measure each cluster at optimization, and leave to PyTorch what PyTorch runs faster.
    """

    engine: str | Engine | None = None
    output_type: str | None = None
    white_list: frozenset[str] = frozenset()
    black_list: frozenset[str] = frozenset()
    min_cluster_size: int = 2
    verify: bool = True
    tune: bool = False

    def __post_init__(self) -> None:
        if self.min_cluster_size < 1:
            raise InputError(f"min_cluster_size should be at least 1, got {self.min_cluster_size}")
        for name, variable in (
            ("white_list", WHITE_LIST_VARIABLE),
            ("black_list", BLACK_LIST_VARIABLE),
        ):
            given = getattr(self, name)
            listed = op_list(given) if isinstance(given, str) else frozenset(given)
            wrong = sorted(op for op in listed if "::" not in op)
            if wrong:
                raise InputError(
                    f"'{wrong[0]}' in the {name} is not the name of an op",
                    hint="write namespace and name, as aten::add or aten::add.Tensor",
                )
            object.__setattr__(self, name, listed | op_list(os.environ.get(variable, "")))

    @property
    def dialect(self) -> str:
        """The dialect of the clusters: IREE takes dynamic shapes on Linalg-on-Tensors that it refuses on StableHLO."""
        name = self.engine.name if isinstance(self.engine, Engine) else self.engine
        return self.output_type or ("stablehlo" if name in (None, "xla") else "linalg-on-tensors")

    def wants(self, name: str, overload: str) -> bool:
        """Whether an op is on the white list."""
        return is_listed(self.white_list, name, overload)

    def refuses(self, name: str, overload: str) -> bool:
        """Whether an op is on the black list."""
        return is_listed(self.black_list, name, overload)
