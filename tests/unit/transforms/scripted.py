"""Scripted programs through the pipelines of TorchScript, run by the reference engine and compared with eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp

from tests.unit.runtime.reference.harness import compiled
from torch2mlir.dialects import make_context
from torch2mlir.dialects.printer import module_text
from torch2mlir.dialects.torch import types as t
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.torchscript.objects import import_function, import_object, script_object
from torch2mlir.tools.opt import all_passes
from torch2mlir.tools.pipeline import make_pipeline


def bound(tensor: torch.Tensor) -> t.ValueTensorType:
    """The type an example promises."""
    return t.vtensor(tuple(tensor.shape), dtypes.element_type(tensor.dtype))


def run(pipeline: str, module: ModuleOp) -> None:
    """Runs passes by their names."""
    make_pipeline(pipeline, all_passes()).apply(make_context(), module)


def function_at_contract(
    function: Callable[..., Any], args: Sequence[torch.Tensor], unknown_sizes: bool = False
) -> ModuleOp:
    """A scripted function at the backend contract."""
    bounds = [bound(a) for a in args]
    if unknown_sizes:
        bounds = [t.vtensor((None,) * a.dim(), b.dtype) for a, b in zip(args, bounds, strict=True)]
    module = import_function(torch.jit.script(function), "main", bounds)
    run("torch-function-to-torch-backend-pipeline", module)
    return module


def object_at_contract(
    model: torch.nn.Module, args: Sequence[torch.Tensor], trace: bool = False
) -> ModuleOp:
    """A scripted or traced module object at the backend contract."""
    script = torch.jit.trace(model, tuple(args)) if trace else torch.jit.script(model)
    module = import_object(script_object(script), {"forward": [bound(a) for a in args]})
    run("torchscript-module-to-torch-backend-pipeline", module)
    return module


def assert_as_eager(
    module: ModuleOp, function: Callable[..., Any], args: Sequence[torch.Tensor]
) -> None:
    """Lowers to Linalg, runs and compares; the arguments are copied, programs may write to them."""
    run("torch-backend-to-linalg-on-tensors-backend-pipeline", module)
    module.verify()
    text = module_text(module).replace("@forward", "@main")
    results = compiled(text)([a.clone() for a in args])
    expected = pytree.tree_leaves(function(*(a.clone() for a in args)))
    for result, wanted in zip(results, expected, strict=True):
        torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
