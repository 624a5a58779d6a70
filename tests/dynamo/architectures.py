"""Small networks of the kinds people train, with their batches and losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

Loss = Callable[[nn.Module, int], torch.Tensor]
"""Of a model and the number of a step: the loss of that step's batch."""

Make = Callable[[], tuple[nn.Module, Loss]]
"""Makes a model, and its loss."""


def batch(step: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(step))


def tokens(step: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, 64, shape, generator=torch.Generator().manual_seed(step))


def mlp() -> Any:
    model = nn.Sequential(
        nn.Linear(8, 32, bias=False),
        nn.BatchNorm1d(32),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(32, 4),
    )

    def loss(model: nn.Module, step: int) -> torch.Tensor:
        x = batch(step, 16, 8)
        return F.cross_entropy(model(x), x[:, :4].argmax(1))

    return model, loss


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norms[0](self.first(x)).relu()
        return (x + self.norms[1](self.second(y))).relu()


def resnet() -> Any:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.MaxPool2d(2),
        Residual(8),
        Residual(8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 4),
    )

    def loss(model: nn.Module, step: int) -> torch.Tensor:
        x = batch(step, 4, 3, 16, 16)
        return F.cross_entropy(model(x), x.mean((2, 3)).argmax(1))

    return model, loss


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.deep = nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip = F.silu(self.norm(self.down(x)))
        deep = F.silu(self.deep(F.avg_pool2d(skip, 2)))
        return self.out(torch.cat([skip, self.up(deep)], 1))


def unet() -> Any:
    def loss(model: nn.Module, step: int) -> torch.Tensor:
        x = batch(step, 2, 1, 16, 16)
        return F.mse_loss(model(x + batch(step + 1, 2, 1, 16, 16) / 4), x)

    return UNet(), loss


def bert() -> Any:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )

    def loss(model: nn.Module, step: int) -> torch.Tensor:
        ids = tokens(step, 4, 12)
        result: torch.Tensor = model(input_ids=ids.where(ids % 7 != 0, 3), labels=ids).loss
        return result

    return BertForMaskedLM(config), loss


def llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )

    def loss(model: nn.Module, step: int) -> torch.Tensor:
        ids = tokens(step, 2, 12)
        result: torch.Tensor = model(input_ids=ids, labels=ids, use_cache=False).loss
        return result

    return LlamaForCausalLM(config), loss


def gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=64,
        n_embd=32,
        n_layer=2,
        n_head=2,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=0,
    )

    def loss(model: nn.Module, step: int) -> torch.Tensor:
        ids = tokens(step, 2, 12)
        result: torch.Tensor = model(input_ids=ids, labels=ids, use_cache=False).loss
        return result

    return GPT2LMHeadModel(config), loss


ARCHITECTURES: dict[str, Make] = {
    made.__name__: made for made in (mlp, resnet, unet, bert, llama, gpt2)
}
