"""The interface of ``torch_mlir.fx``: export an FX-capturable model and get MLIR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule

from torch2mlir import api
from torch2mlir.compiler_utils import (
    BackendLoweringOptions,
    OutputType,
    lower_mlir_module,
    run_pipeline_with_repro_report,
)
from torch2mlir.errors import CaptureError
from torch2mlir.frontends.capture import Model, export
from torch2mlir.frontends.fx.exported import import_graph_module
from torch2mlir.module import MlirModule

__all__ = ["OutputType", "export_and_import", "stateless_fx_import"]


def export_and_import(
    f: Model,
    *args: Any,
    output_type: str | OutputType = OutputType.RAW,
    fx_importer: None = None,
    dynamic_shapes: Any = None,
    strict: bool = False,
    experimental_support_mutation: bool = True,
    import_symbolic_shape_expressions: bool = True,
    hooks: None = None,
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    func_name: str = "main",
    enable_graph_printing: bool = False,
    verbose: bool = False,
    enable_ir_printing: bool = False,
    backend_legal_ops: Sequence[str] | None = None,
    allow_non_finites: bool = True,
    weights: str = "inline",
    **kwargs: Any,
) -> MlirModule:
    """A model as MLIR, with the parameters of ``torch_mlir.fx.export_and_import``.

    Args:
        f: a module, a function of tensors or an exported program.
        args: example arguments.
        output_type: ``raw``, ``torch``, ``linalg-on-tensors``, ``tosa``, ``stablehlo`` or ``mhlo``.
        fx_importer: not here; ops of your own get a ``torch2mlir.decomposition`` or ``torch2mlir.lowering``.
        dynamic_shapes: as ``torch.export.export`` takes it.
        strict: as ``torch.export.export`` takes it.
        experimental_support_mutation: taken; buffers that are written to are always imported.
        import_symbolic_shape_expressions: taken; they are always imported.
        hooks: not here, as ``fx_importer``.
        decomposition_table: for ``run_decompositions`` of the whole exported program; by default ops are decomposed one
            by one, later and faster.
        func_name: name of the function in the module.
        enable_graph_printing: print the exported graph.
        verbose: print the module in the torch dialect, and after its lowering.
        enable_ir_printing: print the module after each pass, to standard error.
        backend_legal_ops: non-core ops to keep whole.
        allow_non_finites: handed to the pipelines; what ops mean does not depend on it.
        weights: ``inline``, ``external`` or ``arguments``, as for ``torch2mlir.export_and_import``.
        kwargs: example keyword arguments.

    Raises:
        CaptureError: the model cannot be captured.
        BackendContractError: an op is not core and cannot be decomposed.
        UnsupportedOpError: a core op has no lowering to the output type.
        TorchMlirCompilerError: the same two, with ``enable_ir_printing``.
    """
    _refuse_importers(fx_importer, hooks)
    model = f
    if strict or decomposition_table or enable_graph_printing:
        if not isinstance(f, ExportedProgram):
            f = export(f, args, kwargs, dynamic_shapes, strict)
        model = f.run_decompositions(dict(decomposition_table)) if decomposition_table else f
        if enable_graph_printing:
            model.graph_module.print_readable()

    def imported(target: OutputType) -> MlirModule:
        return api.export_and_import(
            model,
            *args,
            output_type=target.value,
            dynamic_shapes=dynamic_shapes,
            func_name=func_name,
            weights=weights,
            backend_legal_ops=backend_legal_ops or (),
            **kwargs,
        )

    target = OutputType.get(output_type)
    options = BackendLoweringOptions(allow_non_finites)
    return _lowered(imported, target, backend_legal_ops or (), options, verbose, enable_ir_printing)


def stateless_fx_import(
    gm: GraphModule,
    output_type: str | OutputType = OutputType.RAW,
    fx_importer: None = None,
    hooks: None = None,
    model_name: str = "main",
    enable_graph_printing: bool = False,
    verbose: bool = False,
    enable_ir_printing: bool = False,
    backend_legal_ops: Sequence[str] | None = None,
    allow_non_finites: bool = True,
) -> MlirModule:
    """A graph module whose placeholders are all arguments (from ``make_fx`` or AOTAutograd) as MLIR.

    The parameters are those of :func:`export_and_import`; ``model_name`` is the name of the function.
    """
    _refuse_importers(fx_importer, hooks)
    if enable_graph_printing:
        gm.print_readable()

    def imported(target: OutputType) -> MlirModule:
        return api.export_and_import(
            import_graph_module(gm, model_name),
            output_type=target.value,
            backend_legal_ops=backend_legal_ops or (),
        )

    target = OutputType.get(output_type)
    options = BackendLoweringOptions(allow_non_finites)
    return _lowered(imported, target, backend_legal_ops or (), options, verbose, enable_ir_printing)


def _refuse_importers(fx_importer: object, hooks: object) -> None:
    if fx_importer is not None or hooks is not None:
        raise CaptureError(
            "there is no FxImporter here to replace or to hook into",
            hint="say what an op of your own is with @torch2mlir.decomposition(..) or @torch2mlir.lowering(..)",
        )


def _lowered(
    imported: Callable[[OutputType], MlirModule],
    target: OutputType,
    legal_ops: Sequence[str],
    options: BackendLoweringOptions,
    verbose: bool,
    enable_ir_printing: bool,
) -> MlirModule:
    """The module as the caller wants to see it made: at once, or pass by pass."""
    if not verbose and not enable_ir_printing:
        return imported(target)
    module = imported(OutputType.RAW)
    if verbose:
        print(f"\n====================\nTorchFX IR\n{module}")
    if target is OutputType.RAW:
        return module
    legal = f"{{backend-legal-ops={','.join(legal_ops)}}}" if legal_ops else ""
    run_pipeline_with_repro_report(
        module,
        f"builtin.module(torchdynamo-export-to-torch-backend-pipeline{legal})",
        "Lowering TorchFX IR -> Torch Backend IR",
        enable_ir_printing,
    )
    lower_mlir_module(verbose, target, module, options, enable_ir_printing)
    return module
