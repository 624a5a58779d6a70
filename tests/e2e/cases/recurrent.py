"""Recurrent layers and cells, and the lists of tensors that optimizers work on."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from tests.e2e.registry import case, f32, program


class Recurrent(nn.Module):
    def __init__(self, layer: Any, *sizes: int, **options: Any) -> None:
        super().__init__()
        self.layer = layer(*sizes, **options)

    def forward(self, x: torch.Tensor, state: Any = None) -> Any:
        return self.layer(x, state)


def recurrent(layer: Any, *sizes: int, **options: Any) -> Any:
    class Layer(Recurrent):
        def __init__(self) -> None:
            super().__init__(layer, *sizes, **options)

    return Layer


case("lstm", recurrent(nn.LSTM, 3, 4), f32(5, "B", 3))
case(
    "lstm_bidirectional_batch_first",
    recurrent(nn.LSTM, 3, 4, 2, batch_first=True, bidirectional=True),
    f32("B", 3, 3),
)
case("lstm_projected_without_bias", recurrent(nn.LSTM, 3, 4, bias=False, proj_size=2), f32(3, 2, 3))
case("lstm_from_state", recurrent(nn.LSTM, 3, 4), f32(3, 2, 3), (f32(1, 2, 4), f32(1, 2, 4)))
# torch.export fixes the length of a recurrent layer's sequence
case("lstm_over_a_long_time", recurrent(nn.LSTM, 3, 4, bidirectional=True), f32(40, "B", 3))
case("gru_over_a_long_time", recurrent(nn.GRU, 3, 4, batch_first=True), f32(2, 40, 3))
case("rnn_over_a_long_time", recurrent(nn.RNN, 2, 3), f32(40, 1, 2))
case("gru", recurrent(nn.GRU, 3, 4, 2, bidirectional=True), f32(3, "B", 3))
case("rnn_tanh", recurrent(nn.RNN, 3, 4), f32(4, "B", 3))
case("rnn_relu_unbatched", recurrent(nn.RNN, 3, 4, nonlinearity="relu"), f32(4, 3))
case("lstm_cell", recurrent(nn.LSTMCell, 3, 4), f32("B", 3))
case("gru_cell", recurrent(nn.GRUCell, 3, 4), f32("B", 3), f32("B", 4))


@program(f32("B", 3), f32(4), f32("B", 3))
def foreach_arithmetic(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> Any:
    scaled = torch._foreach_mul([x, y], 2.0)
    added = torch._foreach_add(scaled, [z, y], alpha=0.5)
    rooted = torch._foreach_sqrt(torch._foreach_abs(added))
    return torch._foreach_addcdiv(added, [x, y], torch._foreach_add(rooted, 1.0), -0.1)


@program(f32("B", 3), f32(4))
def foreach_in_place(x: torch.Tensor, y: torch.Tensor) -> Any:
    averages = [torch.zeros_like(x), torch.ones_like(y)]
    torch._foreach_lerp_(averages, [x, y], 0.1)
    torch._foreach_clamp_min_(averages, 0.0)
    return averages, torch._foreach_norm([x, y])
