"""Small Linalg-on-Tensors programs for the reference engine, run with one call."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.reference import ReferenceEngine
from torch2mlir.runtime.reference.engine import ReferenceExecutable


def compiled(text: str) -> ReferenceExecutable:
    """The program's ``main``, loaded."""
    return ReferenceEngine().compile(LoweredFunction.parse(text, "linalg-on-tensors"))


def run(text: str, *tensors: torch.Tensor) -> list[torch.Tensor]:
    """Results of the program's ``main``."""
    return compiled(text)(list(tensors))


def run_one(text: str, *tensors: torch.Tensor) -> torch.Tensor:
    """The only result of the program's ``main``."""
    (result,) = run(text, *tensors)
    return result


def per_element(body: str, inputs: Sequence[str], result: str, size: int) -> str:
    """A program that maps elements ``%a, %b, ...`` to ``%r`` with the ops of ``body``."""
    names = [f"%{chr(ord('a') + number)}" for number in range(len(inputs))]
    tensors = [f"tensor<{size}x{kind}>" for kind in inputs]
    arguments = ", ".join(f"{n}_t: {t}" for n, t in zip(names, tensors, strict=True))
    operands = ", ".join(f"{name}_t" for name in names)
    block = ", ".join(f"{name}: {kind}" for name, kind in zip(names, inputs, strict=True))
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (len(inputs) + 1))
    out = f"tensor<{size}x{result}>"
    return f"""
      func.func @main({arguments}) -> {out} {{
        %init = tensor.empty() : {out}
        %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
            ins({operands} : {", ".join(tensors)}) outs(%init : {out}) {{
        ^bb0({block}, %old: {result}):
          {body}
          linalg.yield %r : {result}
        }} -> {out}
        func.return %y : {out}
      }}"""
