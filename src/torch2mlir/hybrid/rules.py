"""Which engine suits a graph that nobody measures: rules by what is in it, of which the first that holds decides.

One table for ``compile(engine="auto")``, ``optimize`` and ``torch.compile``. Figures are speeds of calls as multiples
of XLA's for the same model, measured in turn on one core of a machine with AVX-512 (``benchmarks/runtime.py`` measures
anew), with onnxruntime 1.31, openvino 2026.4, jaxlib 0.10.2 and IREE 3.13. Where an engine is not installed, or refuses
the graph, the next in order takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch2mlir.hybrid.content import Content

_SMALL = 1 << 17
"""Elements of all tensors below which what a call costs by itself outweighs what it computes."""
_MEMORY = 1 << 22
"""Elements of all tensors that no processor's caches hold."""
_FEW = 48
"""Ops that IREE compiles in about a second."""


def _has_few_ops(has: Content) -> bool:
    return has.ops <= _FEW and not has.products + has.convolutions


@dataclass(frozen=True)
class Rule:
    """What suits graphs of one kind.

    Attributes:
        name: of the kind, as reports say it.
        holds: whether a graph is of it.
        engines: the best first; no others are tried as long as one of them is installed.
        reason: why, with the figures.
    """

    name: str
    holds: Callable[[Content], bool]
    engines: tuple[str, ...]
    reason: str


RULES = (
    Rule(
        "tensors updated in place",
        lambda has: has.updates,
        ("xla", "onnxruntime", "iree"),
        "XLA alone updates a cache where it lies; with the others each call copies it",
    ),
    Rule(
        "varying sizes in a few buckets",
        lambda has: has.is_bucketed,
        ("xla",),
        "one program a bucket, compiled once",
    ),
    Rule(
        "few ops on large tensors in varying sizes",
        lambda has: has.is_dynamic and has.elements > _MEMORY and _has_few_ops(has),
        ("iree", "onnxruntime", "xla"),
        "XLA compiles for every combination of sizes; of 16 MB a tensor IREE takes 1.02, ONNX Runtime (0.40)",
    ),
    Rule(
        "f32 in varying sizes",
        lambda has: has.is_dynamic and has.is_of_f32,
        ("onnxruntime", "iree", "xla"),
        "XLA compiles for every combination of sizes, and IREE slowly; element by element, within the processor's "
        "caches, ONNX Runtime takes 1.06",
    ),
    Rule(
        "floats other than f32 in varying sizes",
        lambda has: has.is_dynamic,
        ("iree", "onnxruntime", "xla"),
        "XLA compiles for every combination of sizes; BERT in bf16: IREE 0.86, ONNX Runtime 0.57",
    ),
    Rule(
        "floats other than f32",
        lambda has: not has.is_of_f32,
        ("xla", "onnxruntime", "iree"),
        "ONNX Runtime widens most of them (BERT in bf16: 0.57), OpenVINO does not round them and is not asked",
    ),
    Rule(
        "weights that come with every call",
        lambda has: has.weights_vary,
        ("xla", "onnxruntime", "iree"),
        "what makes the others faster is packing weights once: without it BERT takes ONNX Runtime 0.86, OpenVINO 0.55",
    ),
    Rule(
        "small calls",
        lambda has: has.elements < _SMALL,
        ("onnxruntime", "xla", "iree"),
        "a call of ONNX Runtime costs least: eight layers of 64 1.64, four small ops 1.11 (OpenVINO 0.77 and 0.39)",
    ),
    Rule(
        "recurrent layers",
        lambda has: has.recurrences > 0,
        ("openvino", "xla", "onnxruntime"),
        "LSTM of 256, 32 steps: OpenVINO 1.41, ONNX Runtime 0.82",
    ),
    Rule(
        "attention in f32",
        lambda has: has.attentions > 0,
        ("openvino", "onnxruntime", "xla"),
        "BERT: OpenVINO 1.39, ONNX Runtime 1.15; Llama of 64 tokens 1.29 and 1.19; ViT 1.15 and 1.11",
    ),
    Rule(
        "convolutions in f32",
        lambda has: has.convolutions > 0,
        ("onnxruntime", "openvino", "xla"),
        "MobileNet-v2: ONNX Runtime 1.59; ResNet-50: 1.58",
    ),
    Rule(
        "products of f32",
        lambda has: has.products > 0,
        ("onnxruntime", "openvino", "xla"),
        "its matrix products are packed once: 1.15 in BERT",
    ),
    Rule(
        "element by element",
        lambda has: True,
        ("xla", "iree", "onnxruntime"),
        "XLA fuses what the others compute op by op: of 16 MB a tensor ONNX Runtime takes 0.40, OpenVINO 0.38",
    ),
)
"""The first that holds decides; the last holds always."""


def rule_for(content: Content) -> Rule:
    """The rule that decides for a graph."""
    return next(rule for rule in RULES if rule.holds(content))
