"""The reference engine: a numpy interpreter of Linalg-on-Tensors, one file per dialect."""

# Importing a dialect's file registers what its ops compute.
from torch2mlir.runtime.reference import (  # noqa: F401
    affine,
    arith,
    complex,
    func,
    linalg_generic,
    linalg_named,
    math,
    scf,
    tensor,
)
from torch2mlir.runtime.reference.engine import ReferenceEngine, ReferenceExecutable, Traced
from torch2mlir.runtime.reference.interpreter import implements

__all__ = ["ReferenceEngine", "ReferenceExecutable", "Traced", "implements"]
