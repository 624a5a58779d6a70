"""Recurrent layers, LSTM, GRU and plain RNNs: short sequences step after step, others as a loop over the time.

Formulas: https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html, ``GRU.html`` and ``RNN.html``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from torch2mlir.transforms.decompositions.loops import repeat
from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

State = tuple[Tensor, ...]
Step = Callable[..., State]
"""``step(projected input, state, weight_hh, bias_hh)``: the next state, whose first part is the output."""
MOST_UNROLLED = 32
"""Longer sequences are loops: code should not grow with its data."""


def _lstm_step(
    projected: Tensor, state: State, weight: Tensor, bias: Tensor | None = None
) -> State:
    hidden, cell = state
    gates = projected + F.linear(hidden, weight, bias)
    entrance, forget, candidate, exit = gates.chunk(4, -1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(entrance) * torch.tanh(candidate)
    return torch.sigmoid(exit) * torch.tanh(cell), cell


def _gru_step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None = None) -> State:
    (hidden,) = state
    reset, update, candidate = projected.chunk(3, -1)
    own_reset, own_update, own_candidate = F.linear(hidden, weight, bias).chunk(3, -1)
    reset, update = torch.sigmoid(reset + own_reset), torch.sigmoid(update + own_update)
    candidate = torch.tanh(candidate + reset * own_candidate)
    return (candidate + update * (hidden - candidate),)


def _plain_step(activation: Callable[[Tensor], Tensor]) -> Step:
    def step(projected: Tensor, state: State, weight: Tensor, bias: Tensor | None = None) -> State:
        return (activation(projected + F.linear(state[0], weight, bias)),)

    return step


def _direction(
    step: Step, x: Tensor, state: State, parameters: Sequence[Tensor], backward: bool
) -> tuple[Tensor, State]:
    """One layer in one direction over projected inputs ``[time, batch, gates]``: all outputs, and the last state."""
    length = x.shape[0]
    if not isinstance(length, int) or length > MOST_UNROLLED:
        return _looped(step, x, state, parameters, backward)
    outputs = []
    for projected in x.flip(0).unbind(0) if backward else x.unbind(0):
        state = step(projected, state, *parameters)
        outputs.append(state[0])
    return torch.stack(outputs[::-1] if backward else outputs), state


def _looped(
    step: Step, x: Tensor, state: State, parameters: Sequence[Tensor], backward: bool
) -> tuple[Tensor, State]:
    """The same as one loop, which writes its outputs into place."""
    count = len(state)

    def one(k: Tensor, outputs: Tensor, *values: Tensor) -> list[Tensor]:
        now, (steps, *given) = values[:count], values[count:]
        place = (steps.shape[0] - 1 - k if backward else k).reshape(1)
        projected = steps.index_select(0, place).squeeze(0)
        following = step(projected, now, *given)
        return [aten.index_put(outputs, [place], following[0].unsqueeze(0)), *following]

    outputs = x.new_zeros([x.shape[0], *state[0].shape])
    outputs, *last = repeat(_length, one, outputs, *state, outer=(x, *parameters))
    return outputs, tuple(last)


def _length(outputs: Tensor, *_: Tensor) -> int:
    return outputs.shape[0]


def _layers(
    step: Step,
    x: Tensor,
    states: Sequence[Tensor],
    parameters: Sequence[Tensor],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """All layers: the outputs of the last one, then every part of the last states.

    ``x`` is ``[time, batch, features]`` (``[batch, time, features]`` with ``batch_first``), a state
    ``[layers * directions, batch, features]``. A projection (LSTM's ``proj_size``) is a fifth parameter.
    """
    per_direction = 4 if has_biases else 2
    directions = 2 if bidirectional else 1
    if len(parameters) > per_direction * layers * directions:
        per_direction += 1
    x = x.transpose(0, 1) if batch_first else x
    last: list[State] = []
    for layer in range(layers):
        sides = []
        for direction in range(directions):
            index = layer * directions + direction
            own = parameters[index * per_direction : (index + 1) * per_direction]
            bias = own[2] if has_biases else None
            projected = F.linear(x, own[0], bias)  # all steps in one product
            chosen = _projected(step) if per_direction % 2 else step
            state = tuple(part[index] for part in states)
            kept = (own[1], *own[3:]) if has_biases else own[1:]
            outputs, state = _direction(chosen, projected, state, kept, direction == 1)
            sides.append(outputs)
            last.append(state)
        x = torch.cat(sides, -1) if bidirectional else sides[0]
        if dropout and train and layer < layers - 1:
            x = torch.dropout(x, dropout, True)
    x = x.transpose(0, 1) if batch_first else x
    return x, *(torch.stack(parts) for parts in zip(*last, strict=True))


def _projected(step: Step) -> Step:
    """A step whose output goes through one more matrix, its last parameter."""

    def projecting(projected: Tensor, state: State, *parameters: Tensor) -> State:
        hidden, *rest = step(projected, state, *parameters[:-1])
        return (F.linear(hidden, parameters[-1]), *rest)

    return projecting


@decomposes(aten.lstm.input)
def _lstm(
    x: Tensor, states: Sequence[Tensor], parameters: Sequence[Tensor], *options: Any
) -> tuple[Tensor, ...]:
    return _layers(_lstm_step, x, states, parameters, *options)


def _register_layer(overload: Any, cell: Any, step: Step) -> None:
    @decomposes(overload)
    def layer(x: Tensor, state: Tensor, parameters: Sequence[Tensor], *options: Any) -> Any:
        return _layers(step, x, [state], parameters, *options)

    @decomposes(cell)
    def one_step(
        x: Tensor,
        state: Tensor,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor | None = None,
        bias_hh: Tensor | None = None,
    ) -> Any:
        return step(F.linear(x, weight_ih, bias_ih), (state,), weight_hh, bias_hh)[0]


_register_layer(aten.gru.input, aten.gru_cell.default, _gru_step)
_register_layer(aten.rnn_tanh.input, aten.rnn_tanh_cell.default, _plain_step(torch.tanh))
_register_layer(aten.rnn_relu.input, aten.rnn_relu_cell.default, _plain_step(torch.relu))


@decomposes(aten.lstm_cell.default)
def _lstm_cell(
    x: Tensor,
    states: Sequence[Tensor],
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None = None,
    bias_hh: Tensor | None = None,
) -> tuple[Tensor, ...]:
    return _lstm_step(F.linear(x, weight_ih, bias_ih), tuple(states), weight_hh, bias_hh)
