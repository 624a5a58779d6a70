"""Elements for which a captured program does not hold are an InputError where eager raises, or takes another road."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from repeated_calls import Together

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import InputError

FEW, ONE, NONE = (torch.tensor(v) for v in ([0.0, 1, 2, 0, 3], [0.0, 0, 5, 0, 0], [0.0] * 5))
OTHER = torch.tensor([4.0, 0, 0, 6, 7])


def written(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[x > 0] = values
    return x


def rows_written(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    x = torch.stack([x, x + 1], 1)
    x[x[:, 0] > 0] = values
    return x


def repeated(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    return torch.repeat_interleave(x, counts)


def whole_rows_written(x: torch.Tensor) -> torch.Tensor:
    """Of no row none is read: ONNX Runtime looks at places that nothing takes."""
    x = torch.stack([x, x + 1], 1)
    chosen = x[:, 0] > 0
    x[chosen] = x[chosen].flip(0)
    return x


def columns_written(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    chosen = x > 0
    x = torch.stack([x, x + 1])
    x[:, chosen] += values
    return x


def divided_by_their_number(x: torch.Tensor) -> torch.Tensor:
    chosen = x > 0
    return x.long()[chosen] // chosen.sum()


COUNTS = torch.tensor([0, 1, 2, 0, 1])
CROSSING = torch.tensor([5, -4, 0, 2, 1])  # running sums beyond their total
PROGRAMS: dict[
    str, tuple[Callable[..., Any], list[tuple[torch.Tensor, ...]], list[tuple[torch.Tensor, ...]]]
] = {
    "sum with selected": (
        lambda x: x[x > 0] + torch.ones(3),
        [(FEW,), (OTHER,)],
        [(ONE,), (NONE,)],
    ),
    "sum with found": (lambda x: x.nonzero()[:, 0] + torch.arange(3), [(FEW,), (OTHER,)], [(ONE,)]),
    "repeats of which some, or all, are negative": (
        repeated,
        [(FEW, COUNTS), (OTHER, COUNTS.flip(0)), (FEW, COUNTS * 0)],
        [(FEW, CROSSING), (FEW, -COUNTS)],
    ),
    "one negative number of repeats": (
        lambda x, n: torch.repeat_interleave(x[:1], n[2:3]),
        [(FEW, COUNTS)],
        [(FEW, -COUNTS)],
    ),
    "repeats that do not give the size that is asked for": (
        lambda x, n: torch.repeat_interleave(x, n, output_size=4),
        [(FEW, COUNTS), (OTHER, COUNTS.flip(0))],
        [(FEW, COUNTS * 5), (FEW, COUNTS * 0), (FEW, CROSSING)],
    ),
    "product with selected": (
        lambda x: torch.masked_select(x, x > 0) * torch.ones(3),
        [(FEW,), (OTHER,)],
        [(ONE,), (NONE,)],
    ),
    "columns": (
        lambda x: torch.stack([x, x])[:, x > 0] @ torch.ones(3, 2),
        [(FEW,), (OTHER,)],
        [(ONE,), (NONE,)],
    ),
    "as many rows as one number says": (
        lambda x, n: x.repeat_interleave(n[2:3], dim=0).view(2, 5),
        [(FEW, COUNTS), (OTHER, COUNTS)],
        [(FEW, COUNTS + 1), (FEW, COUNTS * 0)],
    ),
    "as many elements as one number says": (
        lambda x, n: (
            x.repeat_interleave(n[2:3]).view(5, 2) + torch.repeat_interleave(x, 2).view(5, 2)
        ),
        [(FEW, COUNTS), (OTHER, COUNTS)],
        [(FEW, COUNTS + 1)],
    ),
    "selected by a mask of rows": (
        lambda x: torch.stack([x, x], 1).masked_select((x > 0)[:, None]).view(3, 2),
        [(FEW,), (OTHER,)],
        [(ONE,), (NONE,)],
    ),
    "selected by a mask of columns": (
        lambda x: torch.stack([x, x]).masked_select(x > 0).view(2, 3),
        [(FEW,), (OTHER,)],
        [(ONE,), (NONE,)],
    ),
    "turned rows": (whole_rows_written, [(FEW,), (ONE,), (NONE,), (OTHER,)], []),
    "columns written": (
        columns_written,
        [(FEW, torch.ones(2, 3)), (OTHER, torch.ones(2, 3))],
        [(ONE, torch.ones(2, 3))],
    ),
    "a number for each row of columns": (
        columns_written,
        [(FEW, torch.ones(2, 1)), (ONE, torch.ones(2, 1)), (NONE, torch.ones(2, 1))],
        [],
    ),
    "divided by their number": (divided_by_their_number, [(FEW,), (ONE,), (NONE,)], []),
    "sum of two": (lambda x: x[x > 0] + x[x < 2], [(FEW,)], [(ONE,)]),
    "sum with repeated": (
        lambda x, n: repeated(x, n) + torch.ones(4),
        [(FEW, COUNTS), (OTHER, COUNTS.flip(0))],
        [(FEW, COUNTS + 1)],
    ),
    "repeated": (
        repeated,
        [(FEW, COUNTS), (OTHER, COUNTS * 0), (FEW, COUNTS + 1)],
        [(FEW, torch.tensor([0, 1, 2, 0, -1]))],
    ),
    "probabilities": (
        torch.nn.functional.binary_cross_entropy,
        [(FEW / 4, OTHER / 8), (OTHER / 8, FEW / 4)],
        [(FEW, OTHER / 8), (FEW / 4, OTHER), (-FEW, OTHER / 8)],
    ),
    "segments": (
        lambda x, n: torch.segment_reduce(x, "sum", lengths=n, axis=0),
        [(FEW, torch.tensor([2, 3])), (OTHER, torch.tensor([5, 0]))],
        [(FEW, torch.tensor([2, 2])), (FEW, torch.tensor([6, -1]))],
    ),
    "bags": (
        lambda n, w, starts: torch.nn.functional.embedding_bag(n, w, starts, mode="sum"),
        [
            (COUNTS, torch.ones(4, 2), torch.tensor([0, 2])),
            (COUNTS, torch.randn(4, 2), torch.tensor([0, 4])),
        ],
        [(COUNTS, torch.ones(4, 2), torch.tensor([1, 2]))],
    ),
    "bins": (torch.bincount, [(COUNTS,), (COUNTS + 3,), (COUNTS * 0,)], [(COUNTS - 1,)]),
    "written": (
        written,
        [(FEW, OTHER[:3]), (OTHER, FEW[:3])],
        [(ONE, OTHER[:3]), (FEW + 1, OTHER[:3])],
    ),
    "rows written": (
        rows_written,
        [(FEW, torch.ones(3, 2)), (OTHER, torch.ones(3, 2))],
        [(ONE, torch.ones(3, 2))],
    ),
    "one row written": (
        rows_written,
        [(FEW, torch.ones(2)), (ONE, torch.ones(2)), (NONE, torch.ones(2))],
        [],
    ),
    "filled": (
        lambda x, y: x.masked_scatter(x > 0, y),
        [(FEW, OTHER[:3]), (ONE, OTHER[:3]), (NONE, OTHER[:3])],
        [(FEW + 1, OTHER[:3])],
    ),
    "largest": (lambda x: x[x > 0].max(), [(FEW,), (ONE,)], [(NONE,)]),
    "smallest of a dimension": (lambda x: x[x > 0].min(0), [(FEW,), (ONE,)], [(NONE,)]),
    "median of a dimension": (lambda x: x[x > 0].median(0), [(FEW,), (ONE,)], [(NONE,)]),
    "mode": (lambda x: x[x > 0].mode(0).values, [(FEW,), (ONE,)], [(NONE,)]),
}


PARTS = 4


@pytest.mark.share(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_elements_are_looked_at(part: int) -> None:
    """Many programs as one: in a call the elements of one program are others than those it was compiled with."""
    programs = {name: PROGRAMS[name] for name in list(PROGRAMS)[part::PARTS]}
    together = Together({name: function for name, (function, _, _) in programs.items()})
    first = {name: right[0] for name, (_, right, _) in programs.items()}
    run: Any = torch2mlir.compile(together, first, output_type="linalg-on-tensors")
    for name, (function, right, wrong) in programs.items():
        for arguments in right:
            assert_agrees(run(first | {name: arguments})[name], function(*arguments))
        for arguments in wrong:
            with pytest.raises(InputError):
                run(first | {name: arguments})
                pytest.fail(f"{name} takes {arguments}")
    results = run(first)
    for name, (function, _, _) in programs.items():
        assert_agrees(results[name], function(*first[name]))


def test_nothing_is_written_on_onnxruntime() -> None:
    names = ("turned rows", "a number for each row of columns")
    together = Together({name: PROGRAMS[name][0] for name in names})
    first = {name: PROGRAMS[name][1][0] for name in names}
    run: Any = torch2mlir.compile(together, first, output_type="onnx", engine="onnxruntime")
    for name in names:
        function, right, _ = PROGRAMS[name]
        for arguments in right:
            assert_agrees(run(first | {name: arguments})[name], function(*arguments))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.share(24)
def test_optimize_does_what_eager_does(name: str) -> None:
    function, right, wrong = PROGRAMS[name]
    optimized = torch2mlir.optimize(function, model_inputs=right[0])
    for arguments in [*right, *wrong, right[0]]:
        try:
            expected = function(*arguments)
        except (RuntimeError, IndexError) as error:
            with pytest.raises(type(error)):
                optimized(*arguments)
        else:
            assert_agrees(optimized(*arguments), expected)


def test_sizes_that_vary_and_elements_decide() -> None:
    dim = torch.export.Dim.DYNAMIC
    function = PROGRAMS["sum with selected"][0]
    run = torch2mlir.compile(
        lambda x, y: x[x > 0] + y,
        FEW,
        torch.ones(3),
        output_type="linalg-on-tensors",
        dynamic_shapes=({0: dim}, {0: dim}),
    )
    for x in (FEW, OTHER, FEW):
        assert_agrees(run(x, torch.ones(3)), function(x))
    assert_agrees(run(FEW + 1, torch.ones(5)), FEW + 2)
    for x, y in ((ONE, torch.ones(3)), (FEW, torch.ones(4)), (FEW, torch.ones(2))):
        with pytest.raises(InputError, match="a size that elements decide"):
            run(x, y)
