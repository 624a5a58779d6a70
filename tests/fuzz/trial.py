"""A program with what eager PyTorch makes of it, and what may become of it elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn

from tests.fuzz.program import Program

CONFIGURATIONS: Mapping[str, tuple[str, str]] = {
    "linalg-reference": ("linalg-on-tensors", "reference"),
    "linalg-iree": ("linalg-on-tensors", "iree"),
    "tosa-iree": ("tosa", "iree"),
    "stablehlo-xla": ("stablehlo", "xla"),
    "stablehlo-iree": ("stablehlo", "iree"),
    "onnx-onnxruntime": ("onnx", "onnxruntime"),
    "onnx-openvino": ("onnx", "openvino"),
}


@dataclass(frozen=True)
class Outcome:
    """What became of a program on a configuration.

    Attributes:
        kind: ``right``, ``refused`` (an error of ours), ``wrong``, ``foreign`` (another error), ``crash`` (the process
            died), ``hang``, or ``uncaptured`` (PyTorch itself cannot export it).
        reason: for counting: a message without its particulars.
        message: the message.
    """

    kind: str
    reason: str = ""
    message: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to look at it."""
        return self.kind in ("wrong", "foreign", "crash", "hang")


RIGHT = Outcome("right")


@dataclass(frozen=True)
class Call:
    """What eager does at one call."""

    sizes: Mapping[str, int]
    draw: int
    results: list[torch.Tensor]
    arguments: list[torch.Tensor]
    state: dict[str, torch.Tensor]


class Trial:
    """A program with what eager makes of it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.model = program.module()

    @cached_property
    def calls(self) -> list[Call]:
        """Three calls with the second's values other ones, or one for each of the sizes that eager takes."""
        model, calls = self.program.module(), list[Call]()
        captured, bounds = self.program.sizes.captured, self.program.sizes.bounds
        sizes = [captured] * 3
        if self.program.dynamic:  # half of the bounds, because XLA compiles for every one
            sizes = [captured, *bounds[self.program.seed % 2 :: 2], captured]
        for number, each in enumerate(sizes):
            draw = 0 if each is captured and number != 1 else number
            arguments = self.program.arguments(draw, each)
            before = deepcopy(model.state_dict())
            try:
                results = list(_quietly(model, arguments))
            except Exception:
                if not number:
                    raise
                model.load_state_dict(before)
                continue
            if all(_is_meaningful(result) for result in results):
                kept = (deepcopy(results), deepcopy(arguments), deepcopy(model.state_dict()))
                calls.append(Call(each, draw, *kept))
            else:
                model.load_state_dict(before)
        return calls

    @property
    def key(self) -> tuple[Any, ...]:
        """Programs with the same one can be called together."""
        return (
            self.program.dynamic,
            self.program.training and bool(self.program.layers),
            any(True for _ in self.model.buffers()),
            self.program.writes,
            tuple((tuple(call.sizes.values()), call.draw) for call in self.calls),
        )


def _is_meaningful(result: torch.Tensor) -> bool:
    return isinstance(result, torch.Tensor)


def _quietly(model: nn.Module, arguments: Sequence[torch.Tensor]) -> Any:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model(*arguments)
