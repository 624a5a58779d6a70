"""What a zoo entry is: a model in evaluation mode, example inputs, dimensions that may vary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn
from torch.export import Dim, ExportedProgram

Size = Literal["full", "small"]
Attention = Literal["sdpa", "eager"]

DimNames = dict[int, str]


@dataclass(frozen=True)
class ZooModel:
    """A model ready to be exported.

    Attributes:
        name: the name it goes by in tables.
        model: in evaluation mode, deterministic weights.
        args: positional example inputs.
        kwargs: keyword example inputs.
        dims: for each parameter of ``forward``, its varying dimensions by name;
            equal names are equal sizes.
        limits: the largest size of a named dimension, where the architecture has one.
    """

    name: str
    model: nn.Module
    args: tuple[torch.Tensor, ...]
    kwargs: dict[str, torch.Tensor] = field(default_factory=dict)
    dims: dict[str, DimNames] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Any]:
        """Unpacks as ``model, args, kwargs``, what ``torch2mlir compile zoo:resnet50`` expects."""
        return iter((self.model, self.args, self.kwargs))

    @property
    def dynamic_shapes(self) -> dict[str, dict[int, Dim]]:
        """``dynamic_shapes`` of ``torch.export.export``: batch and, if there is one, sequence."""
        names = {name for dims in self.dims.values() for name in dims.values()}
        made = {name: Dim(name, max=self.limits.get(name)) for name in sorted(names)}
        return {
            parameter: {axis: made[name] for axis, name in dims.items()}
            for parameter, dims in self.dims.items()
        }

    def export(self, dynamic: bool = False) -> ExportedProgram:
        """Export with the example inputs; ``dynamic`` leaves ``dims`` open (needs a batch of 2)."""
        shapes = self.dynamic_shapes if dynamic else None
        with torch.no_grad():
            return torch.export.export(
                self.model, self.args, self.kwargs, dynamic_shapes=shapes, strict=False
            )

    def eager(self) -> Any:
        """What PyTorch itself computes on the example inputs."""
        with torch.no_grad():
            return self.model(*self.args, **self.kwargs)


def build(make: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """Make a model with reproducible weights that are far from degenerate.

    Fresh models have zero biases, unit normalisation and layer scales of 1e-6, under which a wrong
    lowering of those parts would go unseen; all of them get values of ordinary size here.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make().eval()
        with torch.no_grad():
            for module in model.modules():
                _enliven(module)
    return model


def _enliven(module: nn.Module) -> None:
    if isinstance(module, nn.BatchNorm2d) and module.track_running_stats:
        module.running_mean.normal_(0.0, 0.1)
        module.running_var.uniform_(1.0, 2.0)
    for name, parameter in module.named_parameters(recurse=False):
        if "layer_scale" in name:
            parameter.uniform_(0.1, 0.5)
        elif "bias" in name:
            parameter.normal_(0.0, 0.05)
        elif name == "weight" and parameter.dim() == 1:
            parameter.uniform_(0.8, 1.2)


def token_ids(vocabulary: int, batch: int, length: int, seed: int = 0) -> torch.Tensor:
    """Random token ids of shape ``[batch, length]``, int64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, vocabulary, (batch, length), generator=generator)


def attention_mask(batch: int, length: int) -> torch.Tensor:
    """A mask of shape ``[batch, length]``, int64; of the last row up to two tokens behind the first are padding."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, max(1, length - 2) :] = 0
    return mask


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    """Standard normal values, float32: an image batch or a spectrogram."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
