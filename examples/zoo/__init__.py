"""Real models with random weights: the one zoo behind the demo, the benchmarks and the model tests.

Every entry builds one of transformers' classes from its default configuration (``size="full"``)
or from a small one of the same architecture (``size="small"``, milliseconds to run), downloads
nothing and is the same at every call.

    from zoo import MODELS
    entry = MODELS["bert-base"](size="small")
    program = entry.export(dynamic=True)
"""

from __future__ import annotations

from collections.abc import Callable

from zoo.entry import ZooModel
from zoo.speech import whisper_tiny
from zoo.text import bert_base, distilbert, gpt2, llama, t5_small
from zoo.vision import convnext_tiny, mobilenet_v2, resnet50, swin_tiny, vit_base

MODELS: dict[str, Callable[..., ZooModel]] = {
    "resnet50": resnet50,
    "bert-base": bert_base,
    "gpt2": gpt2,
    "vit-base": vit_base,
    "swin-tiny": swin_tiny,
    "llama": llama,
    "whisper-tiny": whisper_tiny,
    "t5-small": t5_small,
    "convnext-tiny": convnext_tiny,
    "mobilenet-v2": mobilenet_v2,
    "distilbert": distilbert,
}

__all__ = [
    "MODELS",
    "ZooModel",
    "bert_base",
    "convnext_tiny",
    "distilbert",
    "gpt2",
    "llama",
    "mobilenet_v2",
    "resnet50",
    "swin_tiny",
    "t5_small",
    "vit_base",
    "whisper_tiny",
]
