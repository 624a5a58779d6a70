"""In-place writes: renamed where that is the whole truth, functionalized where another view sees them."""

import pytest
import torch

from torch2mlir.frontends.capture import capture
from torch2mlir.frontends.fx.functionalization import functionalized
from torch2mlir.frontends.fx.mutation import functional_form, needs_functionalization


def exported(function, *args):  # type: ignore[no-untyped-def]
    class Module(torch.nn.Module):
        def forward(self, *inputs):  # type: ignore[no-untyped-def]
            return function(*inputs)

    return torch.export.export(Module(), args)


def written_through_a_view(x):  # type: ignore[no-untyped-def]
    y = x * 2
    y[:, 0].add_(1)
    return y


def view_read_after_the_write(x):  # type: ignore[no-untyped-def]
    y = x * 2
    first = y[0]
    y.add_(1)
    return first, y


def view_read_before_the_write(x):  # type: ignore[no-untyped-def]
    y = x * 2
    first = y[0] + 1
    y.add_(1)
    return first, y


def chain(x):  # type: ignore[no-untyped-def]
    y = (x + 1).relu_()
    y.mul_(3)
    return y


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (written_through_a_view, True),
        (view_read_after_the_write, True),
        (view_read_before_the_write, False),
        (chain, False),
    ],
)
def test_functionalizes_only_where_a_view_sees_the_write(function, expected: bool) -> None:  # type: ignore[no-untyped-def]
    program = exported(function, torch.randn(3, 4))
    assert needs_functionalization(program.graph) is expected


def test_composite_ops_stay_whole_and_pytorchs_own_decompositions_as_they_are() -> None:
    def function(x, weight):  # type: ignore[no-untyped-def]
        y = x * 2
        y[0] = 1
        return torch.nn.functional.linear(y.reshape(-1, 4), weight)

    program = exported(function, torch.randn(3, 4), torch.randn(5, 4))
    before = {str(node.target) for node in program.run_decompositions({}).graph.nodes}
    ours = [str(node.target) for node in functionalized(program).graph.nodes]
    assert "aten.linear.default" in ours and "aten.reshape.default" not in ours
    assert {str(node.target) for node in program.run_decompositions({}).graph.nodes} == before


def test_batch_norm_in_training_writes_what_its_schema_does_not_say() -> None:
    program = torch.export.export(torch.nn.BatchNorm1d(4).train(), (torch.randn(3, 4),))
    assert needs_functionalization(program.graph)
    mutated = [m.name for m in capture(program).signature.mutations]
    assert mutated == ["running_mean", "running_var", "num_batches_tracked"]


def test_names_of_functional_forms() -> None:
    assert functional_form("torch.aten.add_.Tensor").name == "torch.aten.add.Tensor"
    assert functional_form("torch.aten.relu_").name == "torch.aten.relu"
    assert functional_form("torch.aten.squeeze_.dim").name == "torch.aten.squeeze.dim"


def test_a_written_input_is_a_mutation_at_its_position() -> None:
    def scale(x, y):  # type: ignore[no-untyped-def]
        y.mul_(2)
        return x + y

    program = capture(exported(scale, torch.randn(3), torch.randn(3)))
    assert [m.position for m in program.signature.mutations] == [1]
