"""Python numbers computed from tensors, as results, as operands and as positions: equal to eager's, type by type."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch

import torch2mlir
from torch2mlir.errors import CaptureError, InputError, Torch2MLIRError


def of_integers(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = int(a), b.item()
    assert isinstance(y, int)
    return (
        (x + y, x - y, x * y, x / y, x // y, x % y, -x, x**2, abs(x)),
        (x == y, x != y, x < y, x <= y, x > y, x >= y),
        (max(x, y), min(x, y), sum([x, y, 3]), float(x), math.sqrt(y * y)),
        (torch.tensor(x), torch.full((2,), y), torch.sym_max(a.item(), y)),
    )


def of_floats(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = float(a), b.item()
    return (
        (x + y, x - y, x * y, x / y, -x, x**2, abs(x), float(a.abs())),
        (x == y, x != y, x < y, x <= y, x > y, x >= y),
        (max(x, y), min(x, y), math.sqrt(x * x)),
        (math.floor(x), math.ceil(x), math.trunc(x), round(y), int(a), int(b)),
        (torch.tensor(x), torch.scalar_tensor(y), torch.full((2,), x), a * y + x),
    )


def of_both(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = int(a), float(b)
    return x + y, x * y, y * x, y > x, x != y, y - x, b * x, a.to(torch.float32) * y


def of_a_vector(v: torch.Tensor) -> Any:
    return (
        (int(v.sum()), float(v.mean()), v.std().item(), int(v.argmax()) * 2, v[0].item()),
        (bool((v > 0).all()), bool(torch.isfinite(v).all())),
        ((v > 0).long().tolist(), len(v.nonzero())),
    )


def at_positions(v: torch.Tensor, n: torch.Tensor) -> Any:
    i = int(n)
    return v[i], v.narrow(0, i, 2), v.roll(i, 0), v.roll(-i, 0), v.clamp(max=float(n))


def as_sizes(v: torch.Tensor, n: torch.Tensor) -> Any:
    i = int(n)
    return (
        torch.arange(i),
        torch.arange(i, i + 3),
        v[:i],
        v.repeat(i),
        v.expand(i, 6),
        v.view(i, -1),
    )


def _integers(*values: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(value) for value in values)


def _floats(*values: float) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(value, dtype=torch.float64) for value in values)


PROGRAMS: dict[str, tuple[Any, list[Any]]] = {
    "of_integers": (of_integers, [_integers(7, 2), _integers(-7, 3), _integers(7, -4)]),
    "of_floats": (of_floats, [_floats(2.5, 0.5), _floats(-7.25, -2.5), _floats(1e9, 3.5)]),
    "of_both": (of_both, [(torch.tensor(n), torch.tensor(x)) for n, x in ((2, 0.5), (-3, 2.0), (4, 4.0))]),
    "of_a_vector": (of_a_vector, [(torch.tensor(v),) for v in ([1.0, 2, 3], [0.0, -1, 5], [4.0, 0, 7])]),
    "at_positions": (at_positions, [(torch.randn(6), n) for n in _integers(1, 4, 2)]),
    "as_sizes": (as_sizes, [(torch.randn(6), n) for n in _integers(2, 3, 1)]),
}  # fmt: skip


REFUSED = {
    ("as_sizes", "stablehlo"): "depends on the elements",
    ("as_sizes", "tosa"): "no size can depend on the elements",
    ("of_a_vector", "tosa"): "no size can depend on the elements",
    ("of_floats", "tosa"): "TOSA has no 64-bit floats",
}
"""What a dialect or its engine cannot do, and the words of the error that says so."""


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.share(32)
def test_numbers(name: str, output_type: str) -> None:
    program, calls = PROGRAMS[name]
    if (reason := REFUSED.get((name, output_type))) is not None:
        with pytest.raises(Torch2MLIRError, match=reason):
            torch2mlir.compile(program, *calls[0], output_type=output_type)
        return
    _agrees(program, calls, output_type)


def _agrees(program: Any, calls: list[Any], output_type: str) -> None:
    compiled = torch2mlir.compile(program, *calls[0], output_type=output_type)
    for arguments in calls:
        actual, expected = compiled(*arguments), program(*arguments)
        for mine, other in zip(_leaves(actual), _leaves(expected), strict=True):
            assert type(mine) is type(other)
            torch.testing.assert_close(mine, other, equal_nan=True)


def _leaves(value: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(value)


def of_functions(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = float(a), float(b)
    return math.log(x), math.exp(y), math.sin(x), not (x > y), x > y and y > 0, x > y or y > 2


def of_bits(a: torch.Tensor, b: torch.Tensor) -> Any:
    x, y = int(a), int(b)
    return x & y, x | y, x ^ y, int(bool(a)), (x > 0) & (y > 0), (x > 0) ^ (y > 0)


def of_branches(a: torch.Tensor, b: torch.Tensor) -> Any:
    x = int(a) if int(b) > 0 else 7
    if bool(a > b):
        a = a + 1
    else:
        a = a - 1
    return x, a


def of_loops(a: torch.Tensor, b: torch.Tensor) -> Any:
    steps = 0
    while int(a) < 100:
        a, steps = a * 2 + b, steps + 1
    for _ in range(int(b)):
        a = a - 1
    return a, steps


def filled(a: torch.Tensor, b: torch.Tensor) -> Any:
    return torch.empty_like(a).fill_(b.item()), torch.ops.aten.FloatImplicit(b)


def of_whole_tensors(a: torch.Tensor, b: torch.Tensor) -> Any:
    return torch.equal(a, b), torch.allclose(a, b), torch.is_nonzero(a[0])


def _vectors(*values: list[float]) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.tensor, values))


BY_SOURCE: dict[str, tuple[Any, list[Any]]] = {
    "of_functions": (of_functions, [_floats(2.5, 0.5), _floats(0.25, 2.5), _floats(1e3, -3.5)]),
    "of_bits": (of_bits, [_integers(6, 3), _integers(-7, 12), _integers(0, -1)]),
    "of_branches": (of_branches, [_integers(6, 3), _integers(-7, 12), _integers(4, -1)]),
    "of_loops": (of_loops, [_integers(6, 3), _integers(1, 0), _integers(200, 2)]),
    "filled": (filled, [(torch.ones(2), x) for x in _floats(1.5, -2.0, 3.0)]),
    "of_whole_tensors": (
        of_whole_tensors,
        [_vectors([1.0, 2], [1.0, 2]), _vectors([0.0, 2], [0.0, 3]), _vectors([1.0, 2], [1.0, 2 + 1e-6])],
    ),
}  # fmt: skip
"""What PyTorch does not trace, and TorchScript has."""


@pytest.mark.parametrize("output_type", ["stablehlo", "linalg-on-tensors", "tosa"])
@pytest.mark.parametrize("name", BY_SOURCE)
@pytest.mark.share(24)
def test_numbers_by_source(name: str, output_type: str) -> None:
    program, calls = BY_SOURCE[name]
    if output_type == "tosa" and name == "of_functions":
        with pytest.raises(Torch2MLIRError, match="TOSA has no 64-bit floats"):
            torch2mlir.compile(program, *calls[0], output_type=output_type)
        return
    _agrees(program, calls, output_type)


class Counting(torch.nn.Module):
    """Branches, weights, a buffer that is written in a branch, an argument by name."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            self.count.add_(1)
            return self.linear(x) * scale
        return x - scale


def test_a_module_by_source_keeps_its_state() -> None:
    model = Counting().eval()
    eager = copy.deepcopy(model)
    x, scale = torch.ones(2, 3), torch.tensor(2.0)
    compiled = torch2mlir.compile(model, x, scale=scale)
    for arguments in ((x, scale), (-x, scale), (x * 3, scale * 2)):
        expected = eager(*arguments)
        torch.testing.assert_close(compiled(arguments[0], scale=arguments[1]), expected)
        torch.testing.assert_close(model.count, eager.count)
    with torch.no_grad():
        for parameter in (*model.parameters(), *eager.parameters()):
            parameter.mul_(2)
    torch.testing.assert_close(compiled(x, scale=scale), eager(x, scale))


def _raising(a: torch.Tensor) -> Any:
    if int(a) < 0:
        raise ValueError("negative")
    return a * 2


def _either(a: torch.Tensor) -> Any:
    assert a.any() or (a + 1).all(), "neither of them"
    return a * 2


def _both(a: torch.Tensor) -> Any:
    assert not (a.isnan().any() or (a < 0).any()), "negative or nothing"
    for i in range(int(a)):
        if i > 3:
            raise RuntimeError("negative or too many")
    return a * 2


@pytest.mark.parametrize(
    "function, right, wrong, message",
    [
        (_raising, 4, -3, "negative"),
        (_either, 3, -1, None),
        (_both, 3, -1, "negative or nothing"),
        (_both, 2, 9, "too many"),
    ],
)
def test_errors_that_depend_on_elements(
    function: Any, right: int, wrong: int, message: str | None
) -> None:
    """By source; they were refused at capture."""
    compiled = torch2mlir.compile(
        function, torch.tensor(right), output_type="linalg-on-tensors", engine="reference"
    )
    for number in (right, wrong, right - 1):
        given = torch.tensor(number)
        try:
            expected = function(given)
        except Exception:
            with pytest.raises(InputError, match=message):
                compiled(given)
        else:
            torch.testing.assert_close(compiled(given), expected)


def _squared(a: torch.Tensor) -> Any:
    return not bool(a), int(a) ** 2


def _otherwise(a: torch.Tensor) -> Any:
    if torch.jit.is_scripting():
        return a + 1, not bool(a)
    return a - 1, not bool(a)


def _collected(a: torch.Tensor) -> Any:
    found = [0]
    for i in range(int(a)):
        found.append(i)
    return found


@pytest.mark.parametrize(
    "function, reason",
    [
        (_squared, "a power of ints is a float there"),
        (_otherwise, "result 0 as TorchScript is 4"),
        (_collected, "another structure as TorchScript"),
        (lambda a: not bool(a), "nor TorchScript"),
    ],
)
def test_what_neither_captures_is_said(function: Any, reason: str) -> None:
    with pytest.raises(CaptureError, match=reason) as caught:
        torch2mlir.compile(function, torch.tensor(3))
    assert "torch2mlir.optimize" in str(caught.value)


def test_sizes_that_vary_are_said_to_be_in_the_way() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 and x.max() > 1 else x

    x, shapes = torch.ones(3), ({0: torch.export.Dim.DYNAMIC},)
    with pytest.raises(CaptureError) as refused:
        torch2mlir.compile(function, x, dynamic_shapes=shapes)
    assert "without dynamic_shapes" in (refused.value.hint or "")
    _agrees(function, [(x,), (x * 2,), (-x,)], "stablehlo")
