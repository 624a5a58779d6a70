"""torch2mlir: PyTorch programs in the MLIR ecosystem, and running there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch2mlir.errors import (
    ArtefactError,
    BackendContractError,
    CaptureError,
    EngineError,
    InputError,
    ParseError,
    PassError,
    Torch2MLIRError,
    UnsupportedOpError,
)
from torch2mlir.loading import loaded

if TYPE_CHECKING:
    from torch2mlir import dynamo, fx, lazy, tools, torchscript
    from torch2mlir.api import compile, export_and_import
    from torch2mlir.artefact.load import load
    from torch2mlir.artefact.save import save
    from torch2mlir.contract.target import Target, register_target
    from torch2mlir.conversion.registry import lowering
    from torch2mlir.hybrid.config import Config
    from torch2mlir.hybrid.module import optimize
    from torch2mlir.module import MlirModule
    from torch2mlir.runtime.engine import register_engine
    from torch2mlir.tools.instrumentation import instrumented
    from torch2mlir.transforms.decompositions.own_ops import decomposition

__version__ = "0.1.0"

_LAZY = {
    "load": "torch2mlir.artefact.load",
    "save": "torch2mlir.artefact.save",
    "Config": "torch2mlir.hybrid.config",
    "optimize": "torch2mlir.hybrid.module",
    "compile": "torch2mlir.api",
    "export_and_import": "torch2mlir.api",
    "MlirModule": "torch2mlir.module",
    "Target": "torch2mlir.contract.target",
    "instrumented": "torch2mlir.tools.instrumentation",
    "register_engine": "torch2mlir.runtime.engine",
    "register_target": "torch2mlir.contract.target",
    "decomposition": "torch2mlir.transforms.decompositions.own_ops",
    "lowering": "torch2mlir.conversion.registry",
}
"""Public name -> module; imported on first use, so that the parts that need no PyTorch do not load it."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = globals()[name] = getattr(loaded(_LAZY[name]), name)
        return value
    if name in ("dynamo", "fx", "lazy", "tools", "torchscript"):
        return loaded(f"torch2mlir.{name}")
    raise AttributeError(f"module 'torch2mlir' has no attribute '{name}'")


__all__ = [
    "ArtefactError",
    "BackendContractError",
    "CaptureError",
    "Config",
    "EngineError",
    "InputError",
    "MlirModule",
    "ParseError",
    "PassError",
    "Target",
    "Torch2MLIRError",
    "UnsupportedOpError",
    "compile",
    "decomposition",
    "dynamo",
    "export_and_import",
    "fx",
    "instrumented",
    "lazy",
    "load",
    "lowering",
    "optimize",
    "register_engine",
    "register_target",
    "save",
    "tools",
    "torchscript",
]
