"""Decomposition of single ops: traced once per distinct call, refused when it depends on example sizes."""

import pytest
import torch
from torch._decomp import core_aten_decompositions, decomposition_table

from torch2mlir.contract.core_ops import CORE_OPS, IDENTITIES
from torch2mlir.dialects.parser import parse_module
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends.capture import capture
from torch2mlir.pipeline import Pipeline
from torch2mlir.transforms import templates
from torch2mlir.transforms.check_backend_contract import check_backend_contract
from torch2mlir.transforms.decompose_complex_ops import DecomposeComplexOpsPass, Decomposer
from torch2mlir.transforms.decompositions import (
    decomposes,
    find_decomposition,
    op_name,
    registry,
    table,
)
from torch2mlir.transforms.semantics.fake import FakeWorld


class Stack(torch.nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(layers)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def traces(layers: int, monkeypatch: pytest.MonkeyPatch) -> int:
    count = 0
    original = FakeWorld.trace

    def counted(self, *args):  # type: ignore[no-untyped-def]
        nonlocal count
        count += 1
        return original(self, *args)

    monkeypatch.setattr(FakeWorld, "trace", counted)
    monkeypatch.setattr(templates, "_KEPT", templates._Kept())
    Pipeline.to("torch").lower(capture(Stack(layers).eval(), torch.randn(2, 5, 8)))
    return count


def test_equal_layers_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces(1, monkeypatch) == traces(4, monkeypatch)


def test_source_lines_survive_decomposition() -> None:
    program = capture(lambda x: torch.nn.functional.gelu(x), torch.randn(3))
    Pipeline.to("torch").lower(program)
    function = program.module.body.block.first_op
    lines = {str(op.location) for op in function.body.block.ops if op.name == "torch.aten.erf"}  # type: ignore[union-attr]
    assert len(lines) == 1 and "test_decompose.py" in lines.pop()


def test_a_choice_that_depends_on_an_example_size_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gelu = torch.ops.aten.gelu.default
    monkeypatch.setitem(
        table(), gelu, lambda x, approximate="none": x + 1 if x.shape[0] > 100 else x - 1
    )
    program = capture(
        torch.nn.GELU(), torch.randn(3), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},)
    )
    with pytest.raises(BackendContractError, match="depends on its sizes"):
        Pipeline.to("torch").lower(program)


def test_pytorchs_operators_decompose_as_its_table_for_export_says() -> None:
    for op, theirs in core_aten_decompositions().items():
        if not isinstance(op, torch._ops.OpOverload):
            continue
        if op in registry._OURS or op_name(op) in registry._NAMED:
            continue
        found = find_decomposition(op)
        if found is None:
            assert op_name(op) in CORE_OPS | IDENTITIES, op
        elif found == op.decompose:  # a composite, by its definition
            registered = decomposition_table.get(op)
            assert theirs is not registered or theirs in op.py_kernels.values(), op
        else:
            assert found is theirs, op


def test_own_decomposition_replaces_pytorchs() -> None:
    silu = torch.ops.aten.silu.default
    before = dict(table())

    @decomposes(silu)
    def times_two(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    try:
        program = Pipeline.to("torch").lower(capture(torch.nn.SiLU(), torch.randn(3)))
        names = {op.name for op in program.module.walk()}
        assert "torch.aten.sigmoid" not in names
    finally:
        decomposes(silu)(before[silu])


def test_kept_ops_stay_whole() -> None:
    program = capture(torch.nn.GELU(), torch.randn(3))
    Pipeline.to("torch", ["aten.gelu"]).lower(program)
    assert "torch.aten.gelu" in {op.name for op in program.module.walk()}


def test_contract_names_op_types_and_line() -> None:
    module = parse_module(
        """
        func.func @f(%0: !torch.vtensor<*,f32>) -> !torch.vtensor<*,f32> {
          %1 = torch.aten.relu %0 : !torch.vtensor<*,f32> -> !torch.vtensor<*,f32> loc("model.py":7:1)
          return %1 : !torch.vtensor<*,f32>
        }
        """
    )
    with pytest.raises(BackendContractError) as caught:
        check_backend_contract(module)
    message = str(caught.value)
    assert "unknown rank" in message and "model.py:7" in message and "torch.aten.relu" in message


def test_legal_ops_are_spelled_either_way() -> None:
    for name in ("aten.gelu", "torch.aten.gelu"):
        program = capture(torch.nn.GELU(), torch.randn(3))
        DecomposeComplexOpsPass((name,)).apply(None, program.module)  # type: ignore[arg-type]
        assert "torch.aten.gelu" in {op.name for op in program.module.walk()}


def test_unknown_arguments_are_refused() -> None:
    module = parse_module(
        """
        func.func @f(%0: !torch.vtensor<[3,3],f32>, %n: !torch.int) -> !torch.vtensor<[3,3],f32> {
          %1 = torch.aten.triu %0, %n : !torch.vtensor<[3,3],f32>, !torch.int -> !torch.vtensor<[3,3],f32>
          return %1 : !torch.vtensor<[3,3],f32>
        }
        """
    )
    block = module.body.block.first_op.body.block  # type: ignore[union-attr]
    with pytest.raises(BackendContractError, match="only known when the program runs"):
        Decomposer(FakeWorld({})).run(block)


def test_a_partly_core_op_decomposes_to_its_core_form() -> None:
    def names(**options: object) -> list[str]:
        def reduce(x: torch.Tensor, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
            return x.scatter_reduce(0, index, source, **options)

        arguments = torch.randn(3), torch.tensor([0, 0, 2]), torch.randn(3)
        program = capture(reduce, *arguments)
        Pipeline.to("torch").lower(program)
        called = [op.name.removeprefix("torch.aten.") for op in program.module.walk()]
        return [name for name in called if name.startswith("scatter")]

    assert names(reduce="amax") == ["scatter_reduce.two"]
    assert names(reduce="amax", include_self=False) == ["scatter.value", "scatter_reduce.two"]
    assert names(reduce="mean") == ["scatter_add", "scatter_add"]
