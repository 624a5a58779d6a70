"""The interface of ``torch_mlir.fx``: export an FX-capturable model and get MLIR."""

from __future__ import annotations

from collections.abc import Sequence

from torch.fx import GraphModule

from torch2mlir.compiler import MlirModule, export_and_import
from torch2mlir.compiler_utils import OutputType
from torch2mlir.frontends.fx.exported import import_graph_module

__all__ = ["OutputType", "export_and_import", "stateless_fx_import"]


def stateless_fx_import(
    gm: GraphModule,
    output_type: str | OutputType = OutputType.RAW,
    model_name: str = "main",
    backend_legal_ops: Sequence[str] = (),
) -> MlirModule:
    """A graph module whose placeholders are all arguments (from ``make_fx`` or AOTAutograd) as MLIR."""
    program = import_graph_module(gm, model_name)
    return export_and_import(
        program,
        output_type=output_type.value if isinstance(output_type, OutputType) else output_type,
        backend_legal_ops=backend_legal_ops,
    )
