"""ResNet and BERT by way of a TorchScript trace to StableHLO, run on XLA and compared with eager PyTorch.

    python examples/torchscript_to_stablehlo.py resnet
    python examples/torchscript_to_stablehlo.py bert --small --save bert.mlir

Weights are random; ``--small`` makes models of a few thousand of them. Exits 1 if a result does not match.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from transformers import BertConfig, BertModel, ResNetConfig, ResNetModel

import torch2mlir
from torch2mlir import torchscript


class First(torch.nn.Module):
    """The first result of a model, as a tensor."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.model(x, return_dict=False)[0]
        return result


def resnet(small: bool) -> tuple[torch.nn.Module, torch.Tensor]:
    """A residual network and a batch of images."""
    shape = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]} if small else {}
    size = 32 if small else 224
    return ResNetModel(ResNetConfig(**shape)), torch.randn(1, 3, size, size)


def bert(small: bool) -> tuple[torch.nn.Module, torch.Tensor]:
    """An encoder of text and a sentence of random words."""
    shape = {
        "vocab_size": 100,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    config = BertConfig(**(shape if small else {}), attn_implementation="eager")
    return BertModel(config), torch.randint(0, config.vocab_size, (1, 16))


MODELS: dict[str, Callable[[bool], tuple[torch.nn.Module, torch.Tensor]]] = {
    "resnet": resnet,
    "bert": bert,
}


def main(arguments: list[str]) -> int:
    """Runs the example; 0 if results match."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--small", action="store_true", help="a few thousand weights")
    parser.add_argument("--save", metavar="FILE", help="write the StableHLO here")
    options = parser.parse_args(arguments)
    torch.manual_seed(0)
    model, example = MODELS[options.model](options.small)
    traced = torch.jit.trace(First(model.eval()), example)
    if options.save:
        torchscript.compile(traced, example, output_type="stablehlo").save(options.save)
    compiled = torch2mlir.compile(torchscript.capture(traced, example), output_type="stablehlo")
    with torch.no_grad():
        expected = traced(example)
    error = float((compiled(example) - expected).abs().max() / expected.abs().max())
    print(f"{options.model}: {tuple(expected.shape)}, relative error {error:.1e}")
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
