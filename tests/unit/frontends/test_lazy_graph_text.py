"""The text PyTorch's lazy device prints, read line by line."""

from __future__ import annotations

import math

import pytest
import torch

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.lazy.carried import TensorType
from torch2mlir.frontends.lazy.graph_text import is_empty, parse
from torch2mlir.frontends.lazy.importer import import_lazy_graph

HEADER = "graph(%p0 : Tensor,\n      %p1 : Tensor):\n"


def constant(type: str, attributes: str) -> object:
    return (
        parse(f"{HEADER}  %3 : {type} = prim::Constant{attributes}()\n  return (%p0)\n")
        .nodes[0]
        .value
    )


@pytest.mark.parametrize(
    ("type", "attributes", "value"),
    [
        ("int", "[value=-1]", -1),
        ("bool", "[value=1]", True),
        ("float", "[value=1.0000000000000001e-05]", 1e-5),
        ("float", "[value=-inf]", -math.inf),
        ("str", '[value="none, \\"quoted\\" (a)"]', 'none, "quoted" (a)'),
        ("NoneType", "", None),
        ("int[]", "[value=[2, 3]]", [2, 3]),
        ("int[]", "[value=annotate(List[int], [])]", []),
        ("bool[]", "[value=[True, False]]", [True, False]),
        ("Long(requires_grad=0, device=cpu)", '[value={3}, source="m.py f 1"]', 3),
    ],
)
def test_constants(type: str, attributes: str, value: object) -> None:
    assert constant(type, attributes) == value


def test_nodes_parameters_and_results() -> None:
    graph = parse(
        HEADER
        + '  %4 : Tensor, %5 : Tensor = aten::max[source="a b.py <module> 3"](%p0, %2, %3)\n'
        + "  %6 : NamedTuple(values : Tensor, indices : Tensor) = prim::TupleConstruct(%4, %5)\n"
        + "  return (%4, %5)\n"
    )
    assert graph.parameters == ("p0", "p1")
    assert graph.results == ("4", "5")
    (node,) = graph.nodes
    assert (node.kind, node.outputs, node.inputs) == ("aten::max", ("4", "5"), ("p0", "2", "3"))


def test_a_graph_that_only_hands_on_is_empty() -> None:
    assert is_empty(HEADER + "  %2 : Tensor = aten::detach_copy(%p0)\n  return (%2, %p1)\n")
    assert not is_empty(HEADER + "  %2 : Tensor = aten::exp(%p0)\n  return (%2)\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  block0():\n", "no straight-line code"),
        ("  %2 : Tensor = prim::Constant[value=<Tensor>]()\n", "cannot be read"),
        ("  %2 : Tensor = aten::no_such_call(%p0)\n", "no aten.no_such_call that takes"),
        ("  %2 : Tensor = prim::Loop(%p0)\n", "no ATen call"),
        ("  %2 : Tensor = aten::mm(%p0, %p1)\n", "PyTorch refuses a call"),
    ],
)
def test_what_cannot_be_imported_is_said(body: str, message: str) -> None:
    parameters = [torch.ones(2, 3), torch.ones(2, 3)]
    with pytest.raises(CaptureError, match=message):
        promised = [TensorType(torch.float32, torch.Size([2, 3]))]
        import_lazy_graph(HEADER + body + "  return (%2)\n", parameters, promised)
