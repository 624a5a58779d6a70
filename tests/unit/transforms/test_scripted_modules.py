"""Module objects of TorchScript down the whole road: object graph, contract, three dialects."""

from __future__ import annotations

import pytest
import torch
from scripted import assert_as_eager, object_at_contract, run
from torch import nn

from torch2mlir.errors import BackendContractError


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2)
        )
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.features(x).mean([2, 3]))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.dropout, self.activation = nn.Dropout(0.5), nn.GELU()

    def forward(self, x):
        for layer in self.layers:
            x = self.dropout(self.activation(layer(x))) + x
        return x


class Shared(nn.Module):
    """One module by two names, one weight in two modules."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = self.a
        self.c = nn.Linear(3, 3)
        self.c.weight = self.a.weight

    def forward(self, x):
        return self.c(self.b(self.a(x)))


class Attributes(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes, self.kind, self.scale = [1, 2], "relu", 3
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        if x.dim() != 2:
            raise ValueError("two dimensions")
        y = x * self.scale + self.weight * float(self.sizes[1])
        return y.relu() if self.kind == "relu" else y


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x):
        h, c = torch.zeros(2, 4), torch.zeros(2, 4)
        states = []
        for i in range(x.size(0)):
            h, c = self.cell(x[i], (h, c))
            states.append(h)
        return torch.stack(states)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.calls.add_(1.0)
        return x + self.calls


CASES = [
    (Convolutional, (2, 3, 8, 8), (False, True)),
    (Residual, (2, 3), (False, True)),
    (Shared, (2, 3), (False,)),
    (Attributes, (2, 3), (False,)),
    (Cells, (3, 2, 3), (False, True)),
]


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("model", "shape", "trace"),
    [(model, shape, trace) for model, shape, ways in CASES for trace in ways],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.filterwarnings("ignore")
def test_computes_what_the_module_does(
    model: type[nn.Module], shape: tuple[int, ...], trace: bool
) -> None:
    torch.manual_seed(0)
    module, x = model().eval(), torch.randn(shape)
    assert_as_eager(object_at_contract(module, [x], trace), module, [x])


@pytest.mark.parametrize("dialect", ["stablehlo", "tosa"])
def test_other_dialects(dialect: str) -> None:
    module = object_at_contract(Convolutional().eval(), [torch.randn(2, 3, 8, 8)])
    run(f"torch-backend-to-{dialect}-backend-pipeline", module)
    module.verify()
    assert f"{dialect}." in str(module)


def test_state_that_is_written_is_named() -> None:
    with pytest.raises(BackendContractError, match="module initializers, of the slots @calls"):
        object_at_contract(Counting(), [torch.ones(2, 3)])
