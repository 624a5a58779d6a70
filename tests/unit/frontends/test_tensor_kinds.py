"""What holds for a call's tensors holds for others of the same kinds: what is another kind, and calls that tell."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import InputError
from torch2mlir.frontends.tensor_kinds import TensorKinds


class Own(torch.Tensor):
    """A class of somebody's."""


def _made(make: Callable[[], Tensor]) -> Callable[[], Tensor]:
    return torch.inference_mode()(make)


OTHERS: dict[str, Callable[[], object]] = {
    "size": lambda: torch.randn(3, 4),
    "rank": lambda: torch.randn(1, 2, 4),
    "strides": lambda: torch.randn(4, 2).t(),
    "dtype": lambda: torch.randn(2, 4, dtype=torch.float64),
    "gradients": lambda: torch.randn(2, 4, requires_grad=True),
    "class": lambda: torch.randn(2, 4).as_subclass(Own),
    "parameter": lambda: nn.Parameter(torch.randn(2, 4), requires_grad=False),
    "negation put off": lambda: torch.randn(2, 4, dtype=torch.complex64).conj().imag,
    "made in inference mode": _made(lambda: torch.randn(2, 4)),
    "without elements": lambda: torch.empty(2, 4, device="meta"),
    "sparse": lambda: torch.randn(2, 4).to_sparse(),
    "none": lambda: 3.0,
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_kinds(what: str) -> None:
    kinds = TensorKinds.of([torch.randn(2, 4)])
    assert kinds is not None
    assert kinds.are_of([torch.randn(3, 4)[1:]])
    assert not kinds.are_of([OTHERS[what]()])
    assert not kinds.are_of([])
    assert not kinds.are_of([torch.randn(2, 4)] * 2)


def test_what_has_no_kinds() -> None:
    assert TensorKinds.of([]) is None
    assert TensorKinds.of([torch.randn(2), 3.0]) is None
    assert TensorKinds.of([torch.randn(2).as_subclass(Own)]) is None
    for turned in (Tensor.to_sparse, Tensor.to_sparse_csr, Tensor.to_mkldnn):
        assert TensorKinds.of([torch.randn(2, 2), turned(torch.randn(2, 2))]) is None


def test_transforms_are_other_kinds() -> None:
    kinds = TensorKinds.of([torch.randn(4)])
    assert kinds is not None
    found = []
    torch.func.vmap(lambda x: found.append(kinds.are_of([x])) or x)(torch.randn(3, 4))
    torch.func.grad(lambda x: found.append(kinds.are_of([x])) or x.sum())(torch.randn(4))
    assert found == [False, False]


@pytest.mark.parametrize(
    "target", [("onnx", "onnxruntime"), ("stablehlo", "xla"), ("linalg-on-tensors", "iree")]
)
def test_calls_with_other_kinds_between_calls_with_the_same(target: tuple[str, str]) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    compiled = torch2mlir.compile(
        model,
        torch.randn(2, 4),
        output_type=target[0],
        engine=target[1],
        dynamic_shapes=({0: Dim.AUTO},),
    )

    def agrees(x: Tensor) -> None:
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), atol=1e-5, rtol=1e-5)

    for make in (
        lambda: torch.randn(2, 4),
        lambda: torch.randn(5, 4),
        lambda: torch.randn(4, 2).t(),
        lambda: torch.randn(2, 8)[:, ::2],
        lambda: torch.randn(3, 4)[1:],
        lambda: torch.randn(2, 4, dtype=torch.complex64).conj().imag,
        lambda: torch.randn(4).expand(2, 4),
        lambda: torch._efficientzerotensor(2, 4),  # whose memory is nowhere
        _made(lambda: torch.randn(2, 4)),
        lambda: torch.randn(2, 4, requires_grad=True),
    ):
        agrees(torch.randn(2, 4))
        agrees(make())
        agrees(make())
    agrees(torch.randn(2, 4))
    with torch.no_grad():
        compiled(torch.randn(2, 4, requires_grad=True))
    with torch.enable_grad(), pytest.raises(InputError, match="requires a gradient"):
        compiled(torch.randn(2, 4, requires_grad=True))
    for wrong in (torch.randn(2, 5), torch.randn(2, 4, dtype=torch.float64)):
        agrees(torch.randn(2, 4))
        with pytest.raises(InputError):
            compiled(wrong)
    for change in (
        lambda: setattr(model[0].weight, "data", model[0].weight.data.t()),
        lambda: setattr(model[0].bias, "data", model[0].bias.data.flip(0)),
        lambda: model[0].weight.data.mul_(2),
        lambda: model[0].requires_grad_(False),
        lambda: setattr(model[0], "weight", nn.Parameter(torch.randn(4, 4))),
    ):
        change()
        agrees(torch.randn(2, 4))
        agrees(torch.randn(2, 4))
    model[0].weight.data = model[0].weight.data[:3]
    with pytest.raises(InputError, match="was compiled with"):
        compiled(torch.randn(2, 4))
