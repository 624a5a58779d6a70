"""``options=`` and ``mode=`` of ``torch.compile``, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from torch2mlir.errors import Torch2MLIRError
from torch2mlir.runtime.engine import best_dialect, engine_names, get_engine

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
"""The modes of ``torch.compile``. What they choose between does not exist here (CUDA graphs, kernels to be tuned), so
they all mean the same."""


FALLBACK_VARIABLE = "TORCH2MLIR_FALLBACK"
"""``0`` turns fallback off for whoever passes no options, as PyTorch's minifier does."""


@dataclass(frozen=True)
class Options:
    """What ``torch.compile(model, backend="torch2mlir", options={..})`` takes.

    Attributes:
        output_type: the dialect programs go through; by default the one in which the engine does most.
        engine: who runs it; by default the target's own engine. Without either, each segment gets the engine that
            suits what is in it, of those installed (:mod:`torch2mlir.hybrid.rules`).
        fallback: whether PyTorch runs what cannot be compiled; otherwise that is an error.
        cache: whether compiled code is kept on disk, or the directory to keep it in.
        tune: "fast" or "full" measures every segment at its first call, on the engines installed and in PyTorch, within
            30 or 300 seconds, and takes the fastest that is right. True is "fast"; an engine's name chooses it, with
            the dialect in which it does most.
        check_indices: whether an index outside of the tensor it is for is an error of the call.
    """

    output_type: str | None = None
    engine: Any = None
    fallback: bool = field(default_factory=lambda: os.environ.get(FALLBACK_VARIABLE, "1") != "0")
    cache: bool | str | os.PathLike[str] = True
    tune: bool | str = False
    check_indices: bool = True

    @staticmethod
    def of(options: Mapping[str, Any] | None, mode: str | None) -> Options:
        """The options of a call of ``torch.compile``.

        Raises:
            Torch2MLIRError: there is no such option or mode, or the value is of another kind.
        """
        if mode is not None and mode not in MODES:
            raise Torch2MLIRError(f"unknown mode '{mode}'", hint=f"use one of {', '.join(MODES)}")
        given = dict(options or {})
        known = {each.name for each in fields(Options)}
        for name in given:
            if name not in known:
                raise Torch2MLIRError(
                    f"the torch2mlir backend has no option '{name}'",
                    hint=f"options: {', '.join(sorted(known))}",
                )
        for name in ("fallback", "check_indices"):
            if not isinstance(given.get(name, True), bool):
                raise Torch2MLIRError(f"option '{name}' is True or False, got {given[name]!r}")
        if not isinstance(given.get("cache", True), bool | str | os.PathLike):
            raise Torch2MLIRError(
                f"option 'cache' is True, False or a directory, got {given['cache']!r}"
            )
        return Options(**_tuned(given))


def _tuned(given: dict[str, Any]) -> dict[str, Any]:
    """The options with ``tune`` as False, "fast" or "full"; an engine's name becomes engine and dialect."""
    tune = given.get("tune", False)
    if tune in (False, True, "fast", "full"):
        return given | {"tune": "fast" if tune is True else tune}
    if tune not in engine_names():
        raise Torch2MLIRError(
            f"option 'tune' is False, 'fast', 'full' or an engine, got {tune!r}",
            hint=f"engines: {', '.join(engine_names())}",
        )
    if "engine" in given or "output_type" in given:
        raise Torch2MLIRError(
            f"tune='{tune}' chooses engine and dialect", hint="leave out engine and output_type"
        )
    engine = get_engine(tune)
    return given | {"tune": False, "engine": engine, "output_type": best_dialect(engine)}
