"""What ``optimize`` may put into clusters: engine or choice, dialect, smallest cluster, ops asked for and kept out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from torch2mlir.errors import InputError
from torch2mlir.hybrid.ways import Way
from torch2mlir.runtime.engine import Engine, engine_names

WHITE_LIST_VARIABLE = "TORCH_MHLO_OP_WHITE_LIST"
BLACK_LIST_VARIABLE = "TORCH_MHLO_OP_BLACK_LIST"

BUDGETS = {"fast": 30.0, "full": 300.0}
"""Seconds that ``tune`` may spend on a graph: what has been compiled until then takes part, nothing more is begun."""


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
        engine: ``xla``, ``iree``, ``onnxruntime``, ``openvino``, ``reference``, an engine object, or None for a choice
            among those installed: by ``tune`` if it says so, else by what is in the graph.
        output_type: the dialect of the clusters; None for the one the engine does most with.
        white_list: ops to try although no lowering or decomposition of them is known, as ``aten::add`` (every
            overload) or ``aten::add.Tensor``; those of ``TORCH_MHLO_OP_WHITE_LIST`` (separated by semicolons) are
            added. An op that then cannot be compiled stays in PyTorch.
        black_list: ops to leave to PyTorch; those of ``TORCH_MHLO_OP_BLACK_LIST`` are added.
        min_cluster_size: the fewest ops, views not counted, that are worth a compiled function.
        verify: compare each cluster with PyTorch at optimization, and leave to PyTorch what differs.
        tune: "fast" or "full" measures each cluster on the example, on every engine installed (on the one that
            ``engine`` says) and in PyTorch, and takes the fastest that is right: within 30 seconds a graph, or within
            300. True is "fast". An engine's name chooses it without measuring.
        budget: other seconds.
    """

    engine: str | Engine | None = None
    output_type: str | None = None
    white_list: frozenset[str] = frozenset()
    black_list: frozenset[str] = frozenset()
    min_cluster_size: int = 2
    verify: bool = True
    tune: bool | str = False
    budget: float | None = None

    def __post_init__(self) -> None:
        self._settle_tune()
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

    def _settle_tune(self) -> None:
        """``tune`` as False, "fast" or "full"; an engine's name becomes the engine."""
        tune = "fast" if self.tune is True else self.tune
        if tune in engine_names():
            if self.engine not in (None, tune):
                raise InputError(
                    f"tune='{tune}' chooses another engine than engine={self.engine!r}",
                    hint="say one of them",
                )
            object.__setattr__(self, "engine", tune)
            tune = False
        if tune is not False and tune not in BUDGETS:
            raise InputError(
                f"tune should be False, 'fast', 'full' or an engine, got {self.tune!r}",
                hint=f"engines: {', '.join(engine_names())}",
            )
        if self.budget is not None and self.budget <= 0:
            raise InputError(f"budget should be seconds above 0, got {self.budget}")
        object.__setattr__(self, "tune", tune)

    @property
    def seconds(self) -> float:
        """What tuning a graph may take; 0 without tuning."""
        return 0.0 if self.tune is False else self.budget or BUDGETS[str(self.tune)]

    @property
    def way(self) -> Way | None:
        """The dialect and the engine that are asked for; None if they are to be chosen.

        Raises:
            EngineError: the engine is not installed, or does not take the dialect.
        """
        if self.engine is not None:
            return Way.of(self.engine, self.output_type)
        return None if self.output_type is None else Way.default_of(self.output_type)

    def wants(self, name: str, overload: str) -> bool:
        """Whether an op is on the white list."""
        return is_listed(self.white_list, name, overload)

    def refuses(self, name: str, overload: str) -> bool:
        """Whether an op is on the black list."""
        return is_listed(self.black_list, name, overload)
