"""Sizes of 0 and 1 where capture took a size for 2 or more: the result is eager's, by a program of their own where the
first does not hold for them; where there is no model to capture again, the call is refused.

PyTorch's own exported programs are wrong for them without saying so.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import InputError
from torch2mlir.runtime import small_sizes

DIALECTS = ("linalg-on-tensors", "tosa", "stablehlo")


def first_of_diagonal(x: torch.Tensor) -> torch.Tensor:
    return x.diagonal(0)[:2]


def asks_its_size(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.shape[1] > 1 else x


def asks_through_python(x: torch.Tensor) -> torch.Tensor:
    return x * (x.shape[1] - 1 or 3)


def resized(x: torch.Tensor) -> torch.Tensor:
    """The decomposition divides by the size less one, and asks whether it is one."""
    size = (x.shape[1], 7)
    return nn.functional.interpolate(x[None, None], size, mode="bilinear", align_corners=True)


def dropped(x: torch.Tensor) -> torch.Tensor:
    """Has another rank for one."""
    return x.squeeze(1) * 2


def dropped_unnamed(x: torch.Tensor) -> torch.Tensor:
    return (x + 1).squeeze()


def dropped_of_several(x: torch.Tensor) -> torch.Tensor:
    return torch.squeeze(x, (0, 1)).abs()


def attention(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.t() @ x, -1) @ x.t()


def centred(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(1, keepdim=True)


def rolled(x: torch.Tensor) -> torch.Tensor:
    """Places are remainders by the size."""
    return x.roll(-3) + x.roll(3, 1)


def of_bytes(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.uint8).median()


def compiled(function: Callable[..., Any], dialect: str) -> Any:
    shapes = ({1: Dim("n", max=64)},)
    return torch2mlir.compile(
        function, torch.randn(5, 4), output_type=dialect, dynamic_shapes=shapes
    )


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "function", [first_of_diagonal, asks_its_size, asks_through_python, resized]
)
def test_another_program_for_one_is_refused(function: Callable[..., Any], dialect: str) -> None:
    """A copy has the model's tensors and not its code, and cannot capture it again."""
    ours = copy.deepcopy(compiled(function, dialect))
    for size in (4, 1, 6, 1, 4):
        x = torch.randn(5, size)
        if size > 1:
            assert_agrees(ours(x), function(x))
            continue
        with pytest.raises(InputError) as caught:
            ours(x)
        message = str(caught.value)
        assert "the size 'n' in dimension 1 of input 'x' is 1" in message
        assert "test_small_sizes.py:" in message and "next: compile the model" in message


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "function",
    [
        first_of_diagonal,
        asks_its_size,
        asks_through_python,
        resized,
        dropped,
        dropped_unnamed,
        dropped_of_several,
    ],
)
@pytest.mark.share(16)
def test_a_model_gets_another_program_for_one(function: Callable[..., Any], dialect: str) -> None:
    ours = compiled(function, dialect)
    for size in (4, 1, 6, 1, 4):
        x = torch.randn(5, size)
        assert_agrees(ours(x), function(x))
    assert len(ours.others) == 1


def test_a_model_in_another_mode_gets_no_other_program() -> None:
    """A dropout that was captured for inference must not come back as one for training."""

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(x, 0.5, self.training) * (2 if x.shape[0] > 1 else 3)

    model = Model().eval()
    ours = torch2mlir.compile(model, torch.randn(4, 3), dynamic_shapes=({0: Dim("n")},))
    x = torch.randn(1, 3)
    assert_agrees(ours(x), x * 3)
    other = torch2mlir.compile(model, torch.randn(4, 3), dynamic_shapes=({0: Dim("n")},))
    model.train()
    with pytest.raises(InputError, match="does something else"):
        other(x)


def test_other_programs_share_the_state_of_the_model() -> None:
    class Counts(nn.Module):
        calls: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))
            self.layer = nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return self.layer(x) if x.shape[0] > 1 else -self.layer(x)

    model = Counts().eval()
    eager = copy.deepcopy(model)
    ours = torch2mlir.compile(model, torch.randn(4, 3), dynamic_shapes=({0: Dim("n")},))
    for size in (4, 1, 5, 1, 1, 2):
        x = torch.randn(size, 3)
        with torch.no_grad():
            assert_agrees(ours(x), eager(x))
            assert_agrees(model.calls, eager.calls)
            model.layer.weight.mul_(1.5)
            eager.layer.weight.mul_(1.5)
    assert len(ours.others) == 1


@pytest.mark.share(12)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("function", [attention, centred, rolled])
def test_the_same_program_is_taken(function: Callable[..., Any], dialect: str) -> None:
    ours = compiled(function, dialect)
    for size in (4, 1, 0, 64, 1):
        x = torch.randn(5, size)
        assert_agrees(ours(x), function(x))


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_is_taken_from_an_empty_tensor(dialect: str) -> None:
    ours = compiled(of_bytes, dialect)
    for size in (4, 0, 3):
        x = torch.rand(5, size) * 9
        try:
            result = ours(x)
        except InputError as error:
            assert size == 0 and "the size 'n' in dimension 1 of input 'x' is 0" in str(error)
        else:
            assert_agrees(result, of_bytes(x))


def at_positions(x: torch.Tensor) -> torch.Tensor:
    """What PyTorch asks of the first op is no fact for the second: it took the example of a length for the length."""
    kinds = torch.zeros(1, 64)[:, : x.shape[1]].expand(x.shape[0], x.shape[1])
    return x * kinds.gather(1, torch.arange(x.shape[1]).expand(x.shape[0], -1)) + kinds


@pytest.mark.parametrize("function", [centred, at_positions])
def test_a_program_is_looked_at_once(
    function: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = list[dict[str, int]]()
    check = small_sizes.check_sizes
    monkeypatch.setattr(
        small_sizes,
        "check_sizes",
        lambda module, sizes: looks.append(dict(sizes)) or check(module, sizes),  # type: ignore[func-returns-value]
    )
    shapes = ({0: Dim("b"), 1: Dim("n", max=64)},)
    ours = torch2mlir.compile(
        function, torch.randn(5, 4), output_type="linalg-on-tensors", dynamic_shapes=shapes
    )
    for batch, size in ((3, 4), (1, 4), (1, 5), (1, 6), (3, 7)):
        x = torch.randn(batch, size)
        assert_agrees(ours(x), function(x))
    assert len(looks) == 1


def the_longer(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x[:3] if x.shape[0] > y.shape[0] else -y


def by_remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x if x.shape[0] % 3 == y.shape[0] % 2 else -x


class _Module(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


@pytest.mark.share(8)
@pytest.mark.parametrize("exported", [False, True], ids=["model", "exported"])
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("function", [the_longer, by_remainder])
def test_sizes_for_which_the_model_takes_another_branch(
    function: Callable[..., Any], dialect: str, exported: bool
) -> None:
    """Ranges cannot say what the model asked of two sizes."""
    shapes = ({0: Dim.AUTO}, {0: Dim.AUTO})
    examples = torch.randn(6), torch.randn(4)
    if exported:
        program = torch.export.export(_Module(function), examples, dynamic_shapes=(shapes,))
        ours = torch2mlir.compile(program, output_type=dialect)
    else:
        ours = torch2mlir.compile(function, *examples, output_type=dialect, dynamic_shapes=shapes)
    for sizes in ((6, 4), (9, 8), (4, 8), (12, 6)):
        x, y = map(torch.randn, sizes)
        if exported and sizes == (4, 8):
            with pytest.raises(InputError, match=r"(?s)does something else.*test_small_sizes.py"):
                ours(x, y)
        else:
            assert_agrees(ours(x, y), function(x, y))


def test_a_remainder_of_a_size_that_an_op_asked_for_is_one_of_the_program() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x * x.tensor_split(2, 1)[0].shape[1]

    compiled = torch2mlir.compile(
        program, torch.randn(2, 6), dynamic_shapes=({1: torch.export.Dim.AUTO},)
    )
    for size in (9, 8, 3, 4):
        x = torch.randn(2, size)
        torch.testing.assert_close(compiled(x), program(x))


@pytest.mark.share(4)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_batch_of_nothing_leaves_running_statistics(dialect: str) -> None:
    model = nn.BatchNorm2d(3).train()
    eager = copy.deepcopy(model)
    shapes = ({0: Dim.DYNAMIC},)
    x = torch.randn(4, 3, 2, 2)
    call = torch2mlir.compile(model, x, output_type=dialect, dynamic_shapes=shapes)
    for rows in (4, 0, 2):
        x = torch.randn(rows, 3, 2, 2)
        with torch.no_grad():
            assert torch.allclose(call(x), eager(x), atol=1e-5)
        for mine, theirs in zip(model.buffers(), eager.buffers(), strict=True):
            assert torch.allclose(mine, theirs, atol=1e-5)


def test_why_there_is_no_other_program_is_said() -> None:
    def largest(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] == 0:
            raise ValueError("there is nothing")
        return x.amax(0)

    compiled = torch2mlir.compile(
        largest, torch.randn(3, 4), dynamic_shapes=({0: torch.export.Dim.AUTO},)
    )
    for size in (3, 5, 1):
        x = torch.randn(size, 4)
        torch.testing.assert_close(compiled(x), largest(x))
    for _ in range(2):
        with pytest.raises(InputError, match="no program of its own: .*there is nothing"):
            compiled(torch.randn(0, 4))
