"""Tensors of indices: right in range, an error of ours with the model's line outside, and nothing written there."""

from __future__ import annotations

import copy
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import torch2mlir
from torch2mlir.errors import InputError
from torch2mlir.program import Signature

WAYS = {
    "stablehlo": "xla",
    "linalg-on-tensors": "iree",
    "tosa": "iree",
    "onnx": "onnxruntime",
    "reference": "reference",
    "openvino": "openvino",
}
Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
ROWS, COLUMNS, FAR = 7, 4, 1 << 40


def _put(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[i] = 7.0
    return y


PROGRAMS: dict[str, Program] = {
    "index": lambda x, i: x[i] * 2,
    "index_behind_a_slice": lambda x, i: x.t()[:, i] * 2,
    "index_by_two": lambda x, i: x[i, i % COLUMNS] * 2,
    "put": _put,
    "put_accumulated": lambda x, i: x.index_put((i,), torch.ones(()), accumulate=True),
    "gather": lambda x, i: x.gather(0, i[:, None].expand(-1, COLUMNS)),
    "take": lambda x, i: x.flatten()[:ROWS].take(i),
    "index_select": lambda x, i: x.index_select(0, i),
    "index_add": lambda x, i: x.index_add(0, i, torch.ones(3, COLUMNS)),
    "index_copy": lambda x, i: x.index_copy(0, i, torch.ones(3, COLUMNS)),
    "index_fill": lambda x, i: x.index_fill(0, i, 2.0),
    "index_reduce": lambda x, i: x.index_reduce(0, i, torch.ones(3, COLUMNS), "amax"),
    "scatter": lambda x, i: x.scatter(0, i[:, None].expand(-1, COLUMNS), torch.ones(3, COLUMNS)),
    "scatter_number": lambda x, i: x.scatter(0, i[:, None], 2.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None], torch.ones(3, 1)),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None], torch.ones(3, 1), "prod"),
    "embedding": lambda x, i: F.embedding(i, x),
    "embedding_of_pads": lambda x, i: F.embedding(i, x, padding_idx=2),
    "embedding_bag": lambda x, i: F.embedding_bag(i[None], x, mode="sum"),
    "cross_entropy": lambda x, i: F.cross_entropy(x.t()[:3].contiguous(), i),
    "cross_entropy_ignored": lambda x, i: F.cross_entropy(x.t()[:3], i, ignore_index=FAR),
    "nll_of_pictures": lambda x, i: F.nll_loss(x[None, :, :3], i[None]),
    "multi_margin": lambda x, i: F.multi_margin_loss(x.t()[:3].contiguous(), i),
    "one_hot": lambda x, i: F.one_hot(i, ROWS) * x.sum(),
    "max_unpool": lambda x, i: F.max_unpool2d(
        x[:1, :3].reshape(1, 1, 3), i.reshape(1, 1, 3), (1, 3), output_size=(1, ROWS)
    ),
}
"""Each takes the indices of one dimension of 7 places."""

REFUSED = {
    ("openvino", "cross_entropy"),
    ("openvino", "cross_entropy_ignored"),
    ("openvino", "nll_of_pictures"),
    ("openvino", "embedding_bag"),
    ("openvino", "multi_margin"),
}
"""OpenVINO is not asked to run these, for integers that may not be of 32 bits, and refuses the last one."""


def _of_result(program: Program) -> Program:
    """The program with indices that it computes, which nobody can look at before the call."""
    return lambda x, i: program(x, i * 2 - i)


def _agrees(compiled: Any, eager: Any, *arguments: Any, name: str = "the program") -> bool:
    """Whether eager PyTorch takes the indices; the compiled program does or does not as it, and changes no argument."""
    before = copy.deepcopy(arguments)
    try:
        expected = eager(*arguments)
    except (IndexError, RuntimeError):
        try:
            compiled(*arguments)
        except InputError as error:
            assert "out of range" in str(error), name
            assert "test_indices_out_of_range.py" in (error.location or ""), name
        else:
            pytest.fail(f"{name} takes what eager mode refuses: {arguments}")
        taken = False
    else:
        torch.testing.assert_close(compiled(*arguments), expected)
        taken = True
    torch.testing.assert_close(arguments, before, rtol=0, atol=0)
    return taken


def _x(rows: int = ROWS) -> torch.Tensor:
    return torch.randn(rows, COLUMNS)


def _options(way: str) -> dict[str, Any]:
    engine = WAYS[way]
    if engine == "openvino" and importlib.util.find_spec("openvino") is None:
        pytest.skip("OpenVINO is not installed")
    dialect = {"reference": "linalg-on-tensors", "openvino": "onnx"}.get(way, way)
    return {"output_type": dialect, "engine": engine}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.share(8)
def test_an_index_outside_of_the_tensor_is_an_error(way: str) -> None:
    _raise_as_eager(PROGRAMS, way)


COMPUTED = ("index_by_two", "put", "gather", "take", "embedding", "cross_entropy_ignored")


@pytest.mark.share(4)
@pytest.mark.parametrize("way", WAYS)
def test_an_index_that_the_program_computes_is_looked_at_too(way: str) -> None:
    _raise_as_eager({name: _of_result(PROGRAMS[name]) for name in COMPUTED}, way)


def _raise_as_eager(programs: Mapping[str, Program], way: str) -> None:
    programs = {name: each for name, each in programs.items() if (way, name) not in REFUSED}
    compiled = torch2mlir.compile(_together(programs), _good(programs), **_options(way))
    far = [] if way == "openvino" else [FAR, -FAR]  # it says itself that this is too much
    outside = [ROWS, -1, ROWS - 2, -ROWS, 1, -ROWS - 1, *far, 2]
    taken = [_takers(compiled, programs, torch.tensor([0, place, 4])) for place in outside]
    for name in programs:
        assert any(name in each for each in taken), name
        assert not all(name in each for each in taken), name


def _together(programs: Mapping[str, Program]) -> Callable[..., dict[str, torch.Tensor]]:
    """All as one, each with arguments of its own: a function of this file, which errors are to name."""

    def each(arguments: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> dict[str, torch.Tensor]:
        return {name: program(*arguments[name]) for name, program in programs.items()}

    return each


def _good(programs: Mapping[str, Program], rows: int = ROWS) -> dict[str, tuple[torch.Tensor, ...]]:
    return {name: (_x(rows), torch.tensor([0, 1, 2])) for name in programs}


def _takers(
    compiled: Any, programs: Mapping[str, Program], i: torch.Tensor, rows: int = ROWS
) -> set[str]:
    """The programs that take the indices, in one call; of the others each is alone in refusing them in a call."""
    together, all_take = _together(programs), _good(programs, rows)
    takers = set[str]()
    for name, program in programs.items():
        given = _x(rows), i.clone()
        try:
            program(*given)
        except (IndexError, RuntimeError):
            assert not _agrees(compiled, together, _good(programs, rows) | {name: given}, name=name)
        else:
            all_take[name] = given
            takers.add(name)
    assert _agrees(compiled, together, all_take)
    return takers


DYNAMIC = ("index", "put", "gather", "index_add", "scatter_add", "embedding", "one_hot")


@pytest.mark.share(6)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "openvino"])
def test_the_range_is_that_of_the_sizes_of_a_call(way: str) -> None:
    programs = {name: PROGRAMS[name] for name in DYNAMIC}
    rows = {0: torch.export.Dim("rows", min=2, max=30)}
    shapes = ({name: (rows, None) for name in programs},)
    compiled = torch2mlir.compile(
        _together(programs), _good(programs), dynamic_shapes=shapes, **_options(way)
    )
    for count in (5, 9, 7):
        places = (count - 1, count, 1, -1, count + FAR, 2)
        taken = [_takers(compiled, programs, torch.tensor([0, i, 1]), count) for i in places]
        assert set.union(*taken) == set(programs)


class Written(torch.nn.Module):
    """Writes a row of a buffer and of an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(ROWS, COLUMNS))

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        self.rows.index_copy_(0, i, x[:3] * 2)
        x.index_fill_(0, i, 1.0)
        return x + self.rows


@pytest.mark.parametrize("way", [way for way in WAYS if way != "openvino"])
def test_nothing_is_written_where_an_index_is_outside(way: str) -> None:
    model, eager = Written(), Written()
    compiled = torch2mlir.compile(model, _x(), torch.tensor([0, 1, 2]), **_options(way))
    x, theirs = _x(), _x()
    theirs.copy_(x)
    for places in ([0, 1, 2], [3, 4, ROWS], [6, 5, 0], [0, -1, 2], [1, 2, 3]):
        i = torch.tensor(places)
        if max(places) < ROWS and min(places) >= 0:
            torch.testing.assert_close(compiled(x, i), eager(theirs, i))
        else:
            with pytest.raises(InputError, match="index_copy"):
                compiled(x, i)
        assert torch.equal(x, theirs)
        assert torch.equal(model.rows, eager.rows)  # type: ignore[arg-type]


def test_an_error_says_that_what_was_updated_in_place_may_be_written() -> None:
    def program(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x.index_fill_(0, i * 2, 1.0)

    compiled = torch2mlir.compile(program, torch.zeros(8), torch.tensor([1]), engine="xla")
    compiled(torch.zeros(8), torch.tensor([3]))
    with pytest.raises(InputError, match="in place may have been written"):
        compiled(torch.zeros(8), torch.tensor([4]))


def test_an_index_to_ignore_is_none_to_look_at() -> None:
    def program(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x, i)

    for eager in (program, _of_result(program)):
        compiled = torch2mlir.compile(eager, torch.randn(4, 5), torch.tensor([0, -100, 4, 1]))
        for places in ([0, -100, 4, 1], [0, -1, 4, 1], [2, -100, -100, 3], [0, 5, -100, 1]):
            _agrees(compiled, eager, torch.randn(4, 5), torch.tensor(places))


def test_no_index_is_outside_where_there_is_none() -> None:
    eager = PROGRAMS["index_select"]
    compiled = torch2mlir.compile(eager, _x(), torch.zeros(0, dtype=torch.int64))
    assert compiled(_x(), torch.zeros(0, dtype=torch.int64)).shape == (0, COLUMNS)


def _signature(program: Program, *, check_indices: bool = True) -> Signature:
    args = torch.randn(6, 6), torch.tensor([0, 3, 5])
    return torch2mlir.compile(program, *args, check_indices=check_indices).program.signature


KNOWN: dict[str, Program] = {
    "counted": lambda x, i: x[torch.arange(6)],
    "constant": lambda x, i: x[torch.tensor([5, 0, -6])],
    "found": lambda x, i: x.gather(1, x.argmax(1, keepdim=True)) + x.gather(1, x.argsort(1)),
    "remainder": lambda x, i: x.index_select(0, i % 6),
    "clamped": lambda x, i: F.embedding(i.clamp(0, 5), x),
    "chosen": lambda x, i: F.embedding(torch.where(i > 2, i % 3, torch.zeros_like(i)), x),
    "computed": lambda x, i: F.embedding((i % 2) * 2 + 1, x),
    "mask": lambda x, i: x.index_put((x > 0,), torch.zeros(())),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_to_be_in_range_is_not_looked_at(name: str) -> None:
    signature = _signature(KNOWN[name])
    assert not signature.checks
    assert not signature.preconditions


def test_one_look_is_enough() -> None:
    signature = _signature(lambda x, i: x[i] + F.embedding(i, x) + x.index_select(0, i[:3]))
    assert [p.lowest for p in signature.preconditions] == [-6, 0]
    signature = _signature(lambda x, i: F.embedding(i, x) + x[i] + x.index_select(0, i[:3]))
    assert [p.lowest for p in signature.preconditions] == [0]
    assert not signature.checks
    signature = _signature(lambda x, i: F.embedding((j := i + 0), x) + x[j[:, None]][:, 0])
    assert len(signature.checks) == 1


def test_it_can_be_left_out() -> None:
    signature = _signature(PROGRAMS["embedding"], check_indices=False)
    assert not signature.preconditions


def test_exported_programs_have_the_results_of_the_model_alone() -> None:
    module = torch2mlir.export_and_import(
        PROGRAMS["embedding"], _x(), torch.tensor([1]), output_type="stablehlo"
    )
    assert "-> tensor<1x4xf32>" in str(module)
    assert "preconditions" not in str(module)


def test_torch_compile_raises_as_eager_does_or_an_error_of_ours() -> None:
    eager = PROGRAMS["embedding"]
    torch._dynamo.reset()
    ours = torch.compile(eager, backend="torch2mlir", options={"fallback": False}, dynamic=True)
    for count in (3, 5):
        good = torch.arange(count)
        x = _x()
        torch.testing.assert_close(ours(x, good), eager(x, good))
        with pytest.raises(InputError, match="out of range"):
            ours(x, good + 5)
    torch._dynamo.reset()
    theirs = torch.compile(eager, backend="torch2mlir")
    theirs(_x(), torch.tensor([1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", torch2mlir.dynamo.FallbackWarning)
        with pytest.raises(IndexError, match="out of range"):
            theirs(_x(), torch.tensor([9]))


def test_a_saved_program_looks_too(tmp_path: Any) -> None:
    compiled = torch2mlir.compile(PROGRAMS["embedding"], _x(), torch.tensor([1]))
    torch2mlir.save(compiled, tmp_path / "saved")
    loaded = torch2mlir.load(tmp_path / "saved")
    x = _x()
    assert torch.equal(loaded(x, torch.tensor([3])), x[3:4])
    with pytest.raises(InputError, match="argument 'i' has 8"):
        loaded(x, torch.tensor([8]))


def test_the_lazy_device_looks_too() -> None:
    with torch2mlir.lazy.device() as device:
        x = _x().to(device)
        y = x[torch.tensor([1, 2]).to(device)] * 2
        assert y.cpu().shape == (2, COLUMNS)
        z = x[torch.tensor([1, 9]).to(device)] * 2
        with pytest.raises((InputError, IndexError)):
            z.cpu()
        assert (x + 1).cpu().shape == (ROWS, COLUMNS)
