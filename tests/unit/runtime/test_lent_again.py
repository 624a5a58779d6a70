"""Arguments that come again at the same place are lent as they were, and only these."""

from __future__ import annotations

import pytest
import torch

import torch2mlir
from torch2mlir.errors import InputError
from torch2mlir.runtime.engine import Executable


@pytest.fixture(scope="module")
def executable() -> Executable:
    compiled = torch2mlir.compile(lambda x, y: x * 2 + y, torch.zeros(4, 4), torch.zeros(4, 4))
    (program,) = compiled.programs.values()
    return program.executable


def test_new_values_at_the_same_place(executable: Executable) -> None:
    x, y = torch.randn(4, 4), torch.randn(4, 4)
    for _ in range(3):
        assert torch.equal(executable([x, y])[0], x * 2 + y)
        x.normal_()
        y.add_(1)


def test_another_layout_at_the_same_place(executable: Executable) -> None:
    x, y = torch.randn(4, 4), torch.randn(8, 8)
    for given in (x, x.t(), x, torch.nn.Parameter(x), x.t()):
        for other in (y[:4, :4], y.view(-1)[:16].view(4, 4), y.view(-1)[1:17].view(4, 4)):
            assert torch.equal(executable([given, other])[0], given * 2 + other)


def test_a_view_of_negated_numbers() -> None:
    compiled = torch2mlir.compile(lambda x: x * 2, torch.zeros(4, dtype=torch.float32))
    z = torch.randn(4, dtype=torch.complex64)
    dense = z.imag.contiguous()
    for given in (dense, torch._neg_view(dense), dense):
        assert torch.equal(compiled(given), given * 2)


def test_memory_that_others_have_got_meanwhile(executable: Executable) -> None:
    y = torch.zeros(4, 4)
    for step in range(50):
        x = torch.full((4, 4), float(step))
        assert torch.equal(executable([x, y])[0], x * 2)
        del x
        torch.full((4, 4), -1.0)


def test_what_has_no_memory_is_refused_also_later(executable: Executable) -> None:
    x = torch.randn(4, 4)
    executable([x, x])
    with pytest.raises(InputError):
        executable([x.to_sparse(), x])
    with pytest.raises(InputError), torch._subclasses.FakeTensorMode() as mode:
        executable([mode.from_tensor(x), x])
    assert torch.equal(executable([x, x])[0], x * 3)
