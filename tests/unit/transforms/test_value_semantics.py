"""Programs that write tensors in place mean as values what they mean in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from scripted import assert_as_eager, function_at_contract, run

from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import MlirParser
from torch2mlir.errors import BackendContractError

X = torch.arange(6.0).reshape(2, 3) - 2


def slice_assignment(x):
    y = torch.zeros_like(x)
    y[:, 0] = x[:, 1]
    y[1:, 1:] += 2.0
    y[x < 0] = 9.0
    return y


def views_see_writes(x):
    y = x.clone()
    row, column, flat = y[0], y.t()[1], y.view(-1)
    y.add_(1.0)
    flat[4] = 7.0
    column.mul_(2.0)
    return y, row, column


def whole_sees_writes_to_views(x):
    y = x * 1
    y.permute(1, 0)[2].neg_()
    y.unsqueeze(0).relu_()
    y.narrow(1, 1, 2).sub_(0.5)
    y.diagonal().fill_(3.0)
    return y


def written_in_branches(x):
    y = x * 1
    if bool(x.sum() > 0):
        y[0].add_(1.0)
    else:
        y.mul_(3.0)
        if bool(x.max() < 0):
            y = y - 1
    y.add_(1.0)
    return y


def written_in_loops(x):
    y, total = x * 1, torch.zeros(3)
    for i in range(2):
        total += y[i]
        y[i] = total
    while bool(y.sum() < 100.0):
        y.add_(y.abs() + 1.0)
    return y, total


def column_by_column(x):
    y = x * 1
    for i in range(3):
        y[:, i] = y[:, -i - 1] * float(i)
    return y


def out_variants(x):
    sums, products = torch.empty(2, 3), torch.zeros(2, 3)
    torch.add(x, x, out=sums)
    r = torch.mul(x, x, out=products)
    products.add_(1.0)
    return sums, r


def lists(x):
    rows = [x[0]]
    for i in range(2):
        rows.append(x[i] * float(i))
    rows[1] = rows[0] + 1
    return torch.stack(rows)


def promoted(x):
    y = x * 1
    y.add_(torch.ones(2, 3, dtype=torch.float64))
    return y


def shapes_in_place(x):
    y = x.clone().unsqueeze(0)
    z = y
    y.squeeze_(0)
    y.t_()
    return y.add_(1.0), z


def early_return(x):
    if bool(x.sum() > 0):
        return x + 1
    y = x * 2
    if bool(y.sum() < -10):
        return y - 1
    return y


def of_numbers(x):
    y = x * 1
    y[torch.tensor([0, 1]), torch.tensor([1, 2])] = torch.tensor(5.0)
    return y


def names_of_one_tensor(x):
    y = x.clone()
    z = x.clone()
    return x + float(y is z) + 2.0 * float(y is y)


PROGRAMS = [
    slice_assignment,
    views_see_writes,
    whole_sees_writes_to_views,
    written_in_branches,
    written_in_loops,
    column_by_column,
    out_variants,
    lists,
    promoted,
    shapes_in_place,
    early_return,
    of_numbers,
    names_of_one_tensor,
]


@pytest.mark.share(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_means_what_it_means_in_eager(program: Callable[..., Any]) -> None:
    for x in (X, -X.abs() - 1):
        assert_as_eager(function_at_contract(program, [x]), program, [x])


def test_sizes_may_be_unknown() -> None:
    module = function_at_contract(slice_assignment, [X], unknown_sizes=True)
    assert "vtensor<[?,?],f32>" in str(module)
    x = torch.arange(20.0).reshape(4, 5) - 8
    assert_as_eager(module, slice_assignment, [x])


def test_a_write_that_depends_on_strides_is_refused() -> None:
    def writes_to_a_reshape(x):
        y = x * 1
        y.reshape(3, 2).add_(1.0)
        return y

    with pytest.raises(BackendContractError, match="reference semantics") as caught:
        function_at_contract(writes_to_a_reshape, [X])
    assert "in place" in str(caught.value.hint)


def test_a_functional_op_of_a_library_takes_values() -> None:
    library = torch.library.Library("scripted_library", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    text = """
    func.func @main(%x: !torch.tensor {torch.type_bound = !torch.vtensor<[2,3],f32>}) -> !torch.tensor {
      %s = torch.aten.sin %x : !torch.tensor -> !torch.tensor
      %y = torch.operator "torch.scripted_library.twice"(%s) : (!torch.tensor) -> !torch.tensor
      %z = torch.aten.relu_ %y : !torch.tensor -> !torch.tensor
      return %y : !torch.tensor
    }"""
    module = MlirParser(make_context(), text, "own_op.mlir").parse_module()
    run("torch-function-to-torch-backend-pipeline", module)
    assert_as_eager(module, lambda x: (x.sin() * 2).relu(), [X])
