"""The dialects torch2mlir reads and writes, and the xDSL context that knows them all. Nothing here imports PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name

import xdsl.context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect, Operation

from torch2mlir.dialects import torch as torch_dialect
from torch2mlir.dialects.rows import OpTable

DIALECTS = {
    "torch": "torch2mlir.dialects.torch:Torch",
    "torch_c": "torch2mlir.dialects.torch_c:TORCH_C",
    "stablehlo": "torch2mlir.dialects.stablehlo:StableHLO",
    "chlo": "torch2mlir.dialects.chlo:CHLO",
    "tosa": "torch2mlir.dialects.tosa:TOSA",
    "iree_linalg_ext": "torch2mlir.dialects.iree_linalg_ext:IREE_LINALG_EXT",
    "iree_tensor_ext": "torch2mlir.dialects.iree_barriers:IREE_TENSOR_EXT",
    "util": "torch2mlir.dialects.iree_barriers:IREE_UTIL",
    "linalg": "torch2mlir.dialects.linalg:LINALG",
    "tensor": "torch2mlir.dialects.tensor_ext:TENSOR",
    "math": "torch2mlir.dialects.math_ext:MATH",
    "arith": "torch2mlir.dialects.arith_ext:ARITH",
    "cf": "xdsl.dialects.cf:Cf",
    "complex": "torch2mlir.dialects.complex_ext:COMPLEX",
    "func": "torch2mlir.dialects.func_ext:FUNC",
    "ml_program": "torch2mlir.dialects.ml_program_ext:ML_PROGRAM",
    "onnx": "torch2mlir.dialects.onnx:ONNX",
    "quant": "torch2mlir.dialects.opaque:QUANT",
    "scf": "xdsl.dialects.scf:Scf",
    "sparse_tensor": "torch2mlir.dialects.opaque:SPARSE_TENSOR",
    "tm_tensor": "torch2mlir.dialects.tm_tensor:TM_TENSOR",
}
"""Dialect name -> where it is; a dialect is imported when its first op or type is met."""


@dataclass
class Context(xdsl.context.Context):
    """An xDSL context that makes the ops of the torch dialect and of dialects that are tables on first use."""

    def clone(self) -> Context:
        return Context(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
        )

    def load_registered_dialect(self, name: str) -> None:
        dialect = self._registered_dialects[name]() if name in self._registered_dialects else None
        if not isinstance(dialect, OpTable):
            super().load_registered_dialect(name)
            return
        self._loaded_dialects[name] = dialect
        for attribute in dialect.attributes:
            self.load_attr_or_type(attribute)

    def _get_known_op(self, name: str) -> type[Operation] | None:
        if name.startswith("torch.") and name not in self._loaded_ops:
            return torch_dialect.find_op(name)
        if (known := super()._get_known_op(name)) is None and "." in name:
            dialect = self._loaded_dialects.get(Dialect.split_name(name)[0])
            if isinstance(dialect, OpTable):
                return dialect.find_op(name)
        return known


def register_dialects(context: xdsl.context.Context) -> None:
    """Makes every dialect known to a context; the builtin one is loaded, the others wait until they are used."""
    context.load_dialect(Builtin)
    for name, place in DIALECTS.items():
        context.register_dialect(name, partial(resolve_name, place))


def make_context(allow_unregistered: bool = False) -> Context:
    """A context that knows every dialect of torch2mlir."""
    context = Context(allow_unregistered=allow_unregistered)
    register_dialects(context)
    return context
