"""Slices and places that sizes of a call decide: right, captured again, or refused as eager PyTorch refuses them.

``x[-n:]`` of ``n`` from another tensor was empty where ``n`` is 0, and read other memory, or ended the process, where
``x`` is shorter: PyTorch traces such sizes as if they fitted, and remembers that they have to.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import torch2mlir
from tests.e2e.configurations import TARGETS, require
from torch2mlir.errors import BackendContractError, InputError

SLICES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "the_last": lambda x, n: x[-n:],
    "all_but_the_last": lambda x, n: x[:-n],
    "from": lambda x, n: x[n:],
    "until": lambda x, n: x[:n],
    "one_from_the_end": lambda x, n: x.select(0, -n),
    "one_before": lambda x, n: x[n - 1],
}
SIZES = [(8, 4), (8, 1), (8, 0), (3, 0), (3, 5), (3, 7), (4, 4), (0, 0), (0, 2), (1, 1)]


def _cleared(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    z[: y.shape[0]] = 0.0
    return z


def _added(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    z[-y.shape[0] :] += y
    return z


def _doubled(x: Tensor, y: Tensor) -> Tensor:
    z = x.clone()
    z[y.shape[0] :] *= 2
    return z


def _shifted(x: Tensor, y: Tensor) -> Tensor:
    return torch.cat([x[y.shape[0] :], y]) + x.narrow(0, 0, x.shape[0])


def _replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.slice_scatter(x, y, 0, 1, 1 + y.shape[0])


@pytest.mark.parametrize("program", [_cleared, _added, _doubled, _shifted, _replaced])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.share(28)
def test_writes_are_right_or_refused(
    target: tuple[str, str], program: Callable[[Tensor, Tensor], Tensor]
) -> None:
    """What a write is made of was found for example sizes of which the slice was longer: ``z[-n:] += y`` was ``y``."""
    output_type, engine = target
    require(engine)
    example, rows = (torch.randn(9, 3), torch.randn(4, 3)), {0: Dim.DYNAMIC}
    try:
        compiled = torch2mlir.compile(
            program, *example, output_type=output_type, engine=engine, dynamic_shapes=(rows, rows)
        )
    except BackendContractError as refused:  # nothing tells that the slice is not longer
        assert program is _replaced and "depends on its sizes" in str(refused)
        return
    for first, second in SIZES:
        x, y = torch.randn(first, 3), torch.randn(second, 3)
        try:
            expected = program(x, y)
        except RuntimeError:  # sizes that do not go together
            with pytest.raises(InputError):
                compiled(x, y)
            continue
        torch.testing.assert_close(compiled(x, y), expected, rtol=0, atol=0)


@pytest.mark.parametrize("is_program", [False, True], ids=["model", "program"])
@pytest.mark.parametrize("target, name", product(TARGETS, SLICES))
@pytest.mark.share(48)
def test_right_or_refused(target: tuple[str, str], name: str, is_program: bool) -> None:
    output_type, engine = target
    require(engine)

    class Model(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return SLICES[name](x, y.shape[0])

    def arguments(first: int, second: int) -> tuple[Tensor, Tensor]:
        return torch.randn(first, 3), torch.randn(second, 3)

    model, example = Model(), arguments(9, 4)
    shapes = ({0: Dim("h")}, {0: Dim("s")})
    if is_program:  # which is not captured again for other sizes
        program = torch.export.export(model, example, dynamic_shapes=shapes)
        compiled = torch2mlir.compile(program, output_type=output_type, engine=engine)
    else:
        compiled = torch2mlir.compile(
            model, *example, output_type=output_type, engine=engine, dynamic_shapes=shapes
        )
    for sizes in SIZES:
        x, y = arguments(*sizes)
        try:
            expected = model(x, y)
        except IndexError:  # no such place
            with pytest.raises(InputError):
                compiled(x, y)
            continue
        fits = sizes[0] >= sizes[1] > 0
        try:
            torch.testing.assert_close(compiled(x, y), expected, rtol=0, atol=0)
        except InputError:
            assert is_program and not fits, sizes
