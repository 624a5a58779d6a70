"""Exponentials of NaNs that a program is written with: XLA took them for the other side of the choice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

import torch2mlir
from tests.e2e.configurations import TARGETS, require

ENGINES = [each for each in TARGETS if each[1] != "openvino"]
"""OpenVINO loses NaNs that a program makes, and says so of those that it is given: docs/onnx.md."""
NAN, INF = torch.nan, torch.inf
PROGRAMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "of constants": lambda x, y: torch.where(x > 0, 0.5, NAN).exp(),
    "of elements": lambda x, y: torch.where(x > 0, y, NAN).exp(),
    "softmax": lambda x, y: torch.where(x > 0, y, NAN).softmax(-1),
    "softplus": lambda x, y: F.softplus(torch.where(x > 0, 0.5, NAN)),
    "masked rows": lambda x, y: (
        torch.zeros(6, 5).masked_fill((x > 0).expand(6, 5), -INF).softmax(-1)
    ),
    "masked ones": lambda x, y: torch.full_like(x, -INF).masked_fill(x > 0, 0.0).softmax(-1),
    "masked elements": lambda x, y: y.masked_fill(x > 0, -INF).softmax(-1),
    "differences": lambda x, y: (torch.where(x > 0, INF, 0.0) - torch.where(x > 0, INF, 1.0)).exp(),
    "joined": lambda x, y: torch.cat([x * 0 + 0.5, x * 0 + NAN]).exp(),
    "turned": lambda x, y: torch.where(x > 0, 1.0, NAN).flip(0).exp(),
    "rounded": lambda x, y: torch.where(x > 0, 1.5, NAN).floor().exp(),
    "rolled": lambda x, y: torch.where(x > 0, 1.0, NAN).roll(1, 0).exp(),
    "gathered": lambda x, y: torch.where(x > 0, 1.0, NAN)[torch.tensor([1, 0])].exp(),
    "logarithms": lambda x, y: torch.where(x > 0, 1.0, -1.0).log().exp(),
    "variances": lambda x, y: torch.where(x > 0, 1.0, NAN)[:1].var(0).exp(),
    "bits": lambda x, y: torch.where(x > 0, 1.0, NAN).view(torch.int32).view(torch.float32).exp(),
    "quotients": lambda x, y: (x[:1] * 0 / 0.0).exp(),
    "positions": lambda x, y: (torch.arange(6.0) * 0.0 - 1).log().exp(),
    "integers": lambda x, y: (x.long() * 0.0 - 1).sqrt().exp(),
    "hyperbolic": lambda x, y: (x * 0 / 0.0).sinh() + (y * 0 / 0.0).cosh(),
    "of half floats": lambda x, y: (x.half() * 0 / 0.0).softmax(0),
    "products": lambda x, y: (y * 0 * INF).exp(),
    "sums with infinities": lambda x, y: (y + INF - INF).exp(),
    "variances of one element": lambda x, y: y[:, :1].var(1).exp(),
    "sums": lambda x, y: (torch.where(x > 0, 0.5, NAN) + y).exp(),
}


@pytest.mark.share(9)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("output_type, engine", ENGINES)
def test_nans_stay(name: str, output_type: str, engine: str) -> None:
    require(engine)
    x, y = torch.tensor([[-1.0], [1.0], [2.0], [-1.0], [-2.0], [0.0]]), torch.randn(6, 5)
    if (name, output_type) == ("bits", "tosa"):
        pytest.skip("TOSA cannot read the bits of a float")
    compiled = torch2mlir.compile(PROGRAMS[name], x, y, output_type=output_type, engine=engine)
    for given in ((x, y), (-x, y * 2), (torch.zeros_like(x), -y), (x + 9, y)):
        assert_close(compiled(*given), PROGRAMS[name](*given), equal_nan=True)
