"""Operands in normal form: PyTorch's promotion, and positions and dimensions from the front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import cast

import pytest
import torch
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue

import torch2mlir
from torch2mlir.contract.core_ops import BINARY, COMPLEX, SELECTION
from torch2mlir.contract.normal_form import normalize
from torch2mlir.contract.positions import from_front, start_from_front
from torch2mlir.contract.promotion import promote, scalar_dtype
from torch2mlir.conversion.lowering import ResultType, Tensor
from torch2mlir.dialects.torch import dims
from torch2mlir.dialects.torch.dims import KnownSize
from torch2mlir.errors import UnsupportedOpError
from torch2mlir.frontends.dtypes import element_type

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)


@pytest.mark.parametrize("ranks", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_tensors_are_promoted_as_pytorch_does(ranks: tuple[int, int]) -> None:
    for pair in product(DTYPES, DTYPES):
        tensors = [torch.zeros([2] * rank, dtype=dtype) for rank, dtype in zip(ranks, pair)]
        ours = promote([(element_type(x.dtype), x.ndim) for x in tensors])
        assert ours == element_type(torch.result_type(*tensors)), f"{pair} of ranks {ranks}"


@pytest.mark.parametrize("number", [True, 3, 2.5, 1j])
def test_numbers_count_least(number: complex) -> None:
    for dtype, rank in product(DTYPES, (0, 1)):
        x = torch.zeros([2] * rank, dtype=dtype)
        ours = promote([(element_type(dtype), rank)], [scalar_dtype(number)])
        assert ours == element_type(torch.result_type(x, number)), f"{dtype} and {number}"


ORDERING: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "compare": lambda x: x < x,
    "sort": lambda x: x.sort(-1).values,
    "topk": lambda x: x.topk(1).values,
    "amax": lambda x: x.amax(0),
    "clamp": lambda x: x.clamp(0, 1),
    "floor": torch.floor,
    "remainder": lambda x: x % 2,
    "unique": torch.unique,
}


@pytest.mark.share(8)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo", "onnx"])
@pytest.mark.parametrize("program", ORDERING.values(), ids=ORDERING)
def test_complex_numbers_have_no_order(
    program: Callable[[torch.Tensor], torch.Tensor], output_type: str
) -> None:
    x = torch.randn(3, dtype=torch.complex64)
    with pytest.raises((NotImplementedError, RuntimeError)):
        program(x)
    with pytest.raises(UnsupportedOpError):
        torch2mlir.export_and_import(program, x, output_type=output_type)


class Recorder:
    """A conversion that only notes what is broadcast."""

    out = ResultType((4, 3), f32)

    def cast(self, x: Tensor, dtype: Attribute) -> Tensor:
        return Tensor(x.value, x.sizes, dtype)

    def spread(self, x: Tensor, sizes: Sequence[KnownSize]) -> Tensor:
        return Tensor(x.value, tuple(sizes), x.dtype)

    def static(self, value: object, what: str) -> int:
        raise AssertionError


def test_operands_of_elementwise_ops_have_the_sizes_of_the_result() -> None:
    row = Tensor(cast(SSAValue, None), (3,), f32)
    for name in (BINARY | SELECTION | COMPLEX) - {"torch.prims.real", "torch.prims.imag"}:
        operands = normalize(Recorder(), name, [row, row, row])
        assert [x.sizes for x in operands] == [(4, 3)] * 3, name


def test_positions_are_pythons() -> None:
    symbol = dims.symbol("s")
    for size, start, step in product(range(1, 6), range(-7, 8), (1, 2)):
        first = range(size)[start::step][:1]
        length = len(range(size)[start::step])
        # as a number, as an expression whose sign is known, and as one whose sign is not
        for form in (start, dims.add(symbol, start - 3), dims.sub(start + 3, symbol)):
            found = start_from_front(form, size, dims.mul(length, 1), step)
            found = dims.substitute(found, {"s": 3})
            assert not first or found == first[0], f"{form} of {size}"
            assert 0 <= found <= size  # type: ignore[operator]
            if -size <= start < size:
                place = dims.substitute(from_front(form, size), {"s": 3})
                assert place == range(size)[start]
