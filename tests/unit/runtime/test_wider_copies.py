"""Parts and elements of a wider copy, which IREE computes where they are read (see docs/engines.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from repeated_calls import Together, agrees_with_eager
from torch.export import Dim


def _of_halves(x: torch.Tensor, read: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    wide = x.long()
    half = len(x) // 2
    return x + read(wide[:half] * wide[half:])


PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "product_of_4": lambda x: x[:4] + x[:4].prod(),
    "product_of_5": lambda x: x[:5] + x[:5].prod(),
    "numbers": lambda x: _of_halves(x, lambda y: y[0] * y[1]),
    "of_a_matrix": lambda x: _of_halves(x.view(4, 2), lambda y: y[0, 0] * y[1, 1]),
    "of_joined_parts": lambda x: _of_halves(
        x, lambda y: (lambda z: z[0] * z[2])(torch.cat([y[:1], y[1:3] + 1]))
    ),
}


def _arguments() -> tuple[dict[str, tuple[torch.Tensor, ...]]]:
    return ({name: (torch.randint(-3, 4, (8,), dtype=torch.int32),) for name in PROGRAMS},)


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_two_elements_of_what_parts_are_combined_to(output_type: str) -> None:
    agrees_with_eager(Together(PROGRAMS), _arguments, output_type=output_type, engine="iree")


READ_BY_STEPS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "multiplied": lambda x: x.float()[::2] * 2,
    "from_the_second": lambda x: x.float()[1::3] + 1,
    "of_doubles": lambda x: x.double()[::2].sin(),
    "of_a_range": lambda x: x.float()[2:][::2] * 2,
    "columns": lambda x: x.float().view(4, 2)[:, ::2] * 2,
    "joined": lambda x: torch.cat([x.float()[1::2], -x.float()[::2]]),
    "computed": lambda x: (x.float() * 3 + 1)[::2].exp(),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8])
@pytest.mark.parametrize("output_type", ["linalg-on-tensors", "tosa", "stablehlo"])
def test_what_is_read_by_steps_of_a_wider_copy(output_type: str, dtype: torch.dtype) -> None:
    programs = {
        name: program
        for name, program in READ_BY_STEPS.items()
        if output_type != "tosa" or name != "of_doubles"  # which it has none of
    }
    agrees_with_eager(
        Together(programs),
        lambda: ({name: (torch.randint(-3, 4, (8,)).to(dtype),) for name in programs},),
        output_type=output_type,
        engine="iree",
    )


ELEMENTS_IN_ANOTHER_SHAPE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "broadcast": lambda x: x.float().flatten()[0].expand(3) * 2,
    "of_what_is_computed": lambda x: (x.float() * 2).flatten()[5] + torch.arange(3.0),
    "of_a_row": lambda x: x.float().flatten(1)[1, 2].expand(2) * 2,
    "joined": lambda x: torch.cat([torch.ones(1), x.float().flatten()[1:2].expand(2)]),
    "to_integers": lambda x: x.long().flatten()[3].expand(3) * 2,
    "beside_the_whole": lambda x: x.float().flatten()[0].expand(3) * x.float().sum(),
}
"""IREE's compiler did not end; of a vector and of ``x.float()[0, 0]`` it did."""


@pytest.mark.share(15)
@pytest.mark.parametrize("dtype", [torch.bool, torch.float16, torch.int8])
@pytest.mark.parametrize(
    "output_type, sizes",
    [
        ("linalg-on-tensors", "fixed"),
        ("linalg-on-tensors", "varying"),
        ("tosa", "fixed"),
        ("tosa", "varying"),
        ("stablehlo", "fixed"),  # IREE refuses another shape of varying sizes
    ],
)
def test_an_element_of_a_wider_copy_in_another_shape(
    output_type: str, dtype: torch.dtype, sizes: str
) -> None:
    agrees_with_eager(
        Together(ELEMENTS_IN_ANOTHER_SHAPE),
        lambda: (
            {
                name: (torch.randint(-3, 4, (2, 3, 4)).to(dtype),)
                for name in ELEMENTS_IN_ANOTHER_SHAPE
            },
        ),
        output_type=output_type,
        engine="iree",
        dynamic_shapes=(
            ({name: ({2: Dim.AUTO},) for name in ELEMENTS_IN_ANOTHER_SHAPE},)
            if sizes == "varying"
            else None
        ),
    )
