"""Programs that cannot be compiled: one clear error each, with op, source line, dialect and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.conversion import registry
from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.errors import (
    BackendContractError,
    CaptureError,
    EngineError,
    ParseError,
    Torch2MLIRError,
    UnsupportedOpError,
)
from torch2mlir.transforms.lower_to_backend_contract import LowerToBackendContractPass

TARGETS = ("stablehlo", "linalg-on-tensors", "tosa")


def line_of(marker: str) -> str:
    """``file:line`` of the line of this file that ends in a marker comment."""
    with open(__file__) as source:
        lines = source.read().splitlines()
    return (
        f"{__file__}:{1 + next(i for i, text in enumerate(lines) if text.endswith(f'# {marker}'))}"
    )


@pytest.fixture
def opaque() -> Iterator[None]:
    """An op of a library of the user's, without a decomposition."""
    with torch.library._scoped_library("torch2mlir_tests", "FRAGMENT") as library:
        library.define("opaque(Tensor x, int n=1) -> Tensor")
        library.impl("opaque", lambda x, n=1: x * n, "CPU")
        library._register_fake("opaque", lambda x, n=1: torch.empty_like(x))
        yield


class Opaque(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.torch2mlir_tests.opaque(x + 1, 2)  # opaque


class Sine(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return torch.sin(y)  # sine


class Nonzero(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nonzero(x)  # nonzero


class WritesExpanded(nn.Module):
    """Elements of an expanded tensor are one place of memory: what eager mode makes of a write is no value of each."""

    def __init__(self, write: Callable[[torch.Tensor], object]) -> None:
        super().__init__()
        self.write = write

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = (x * 1).expand(4, 4)
        self.write(rows)
        return rows + 0


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            if x.sum() > 0:  # branch
                return x
            raise ValueError("nothing to do")
        except ValueError:
            return x - 1


@pytest.mark.parametrize("target", TARGETS)
def test_a_missing_lowering_names_op_line_dialect_and_a_way_out(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.lowering_functions(target)
    monkeypatch.delitem(registry._LOWERINGS[target], "torch.aten.sin", raising=False)
    monkeypatch.delitem(registry._SHARED, "torch.aten.sin", raising=False)
    with pytest.raises(UnsupportedOpError) as caught:
        torch2mlir.export_and_import(Sine(), torch.ones(3), output_type=target)
    error = caught.value
    assert error.op is not None and error.op.startswith("torch.aten.sin")
    assert error.dialect == target
    assert error.location is not None and error.location.startswith(line_of("sine"))
    assert "torch2mlir.lowering" in str(error)


@pytest.mark.parametrize("target", TARGETS)
def test_an_op_outside_the_registry_is_named_with_its_line(opaque: None, target: str) -> None:
    with pytest.raises(Torch2MLIRError) as caught:
        torch2mlir.export_and_import(Opaque(), torch.ones(3), output_type=target)
    message = str(caught.value)
    assert "torch2mlir_tests.opaque" in message
    assert line_of("opaque") in message
    assert "torch2mlir.lowering" in message


def test_an_op_outside_the_registry_is_imported_raw(opaque: None) -> None:
    text = str(torch2mlir.export_and_import(Opaque(), torch.ones(3), output_type="raw"))
    assert 'torch.operator "torch.torch2mlir_tests.opaque"' in text


def test_a_data_dependent_shape_in_tosa_is_named_with_its_line() -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        torch2mlir.export_and_import(Nonzero(), torch.ones(3), output_type="tosa")
    message = str(caught.value)
    assert "no size can depend on the elements of a tensor" in message
    assert line_of("nonzero") in message
    assert "  next: " in message


def test_a_data_dependent_shape_on_an_engine_of_static_shapes() -> None:
    def gaps(x: torch.Tensor) -> torch.Tensor:
        places = torch.where(x > 0)[0]
        return places[1:] - places[:-1]  # a slice to the end was said to have 2**63 - 1 elements

    for model in (Nonzero(), gaps):
        with pytest.raises(EngineError) as caught:
            torch2mlir.compile(model, torch.ones(3), engine="xla")
        assert "depends on the elements of a tensor" in str(caught.value)
        assert "iree" in str(caught.value)


def test_data_dependent_control_flow_is_a_capture_error() -> None:
    with pytest.raises(CaptureError) as caught:
        torch2mlir.compile(Branch(), torch.ones(3))
    assert line_of("branch") in str(caught.value)
    assert "torch.cond" in str(caught.value)


@pytest.mark.parametrize(
    "write",
    [
        lambda rows: rows.fill_(2),
        lambda rows: rows.masked_fill_(torch.eye(4) > 0, 5.0),
        lambda rows: rows.mul_(2),
        lambda rows: rows[:, 1].add_(1),
        lambda rows: rows[0].add_(1),  # the difference is NaN of infinities
    ],
    ids=["fill", "masked_fill", "mul", "column", "row"],
)
def test_writes_to_expanded_tensors_are_a_capture_error(
    write: Callable[[torch.Tensor], object],
) -> None:
    with pytest.raises(
        CaptureError, match="several of whose elements are one place of memory"
    ) as caught:
        torch2mlir.compile(WritesExpanded(write), torch.arange(4.0))
    assert caught.value.location is not None and __file__ in caught.value.location
    assert "clone()" in str(caught.value)


def test_an_expansion_that_elements_decide_is_a_capture_error() -> None:
    """PyTorch's error about a guard came out of the look for tensors that share places of memory."""

    def written_beside(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x.add_(1)
        first = x.topk(counts.sum().item(), dim=0).values
        a, b = torch.broadcast_tensors(x[:1], first)
        return a * b

    with pytest.raises(CaptureError, match="in-place writes") as raised:
        torch2mlir.compile(written_beside, torch.rand(4, 3), torch.tensor([1, 0, 1, 1]))
    assert __file__ in str(raised.value.location)


def test_a_size_of_what_is_selected_is_asked_by_the_capture() -> None:
    def rows(x: torch.Tensor) -> torch.Tensor:
        return torch.logsumexp(x[x < 0.9].view(3, -1), 1)

    with pytest.raises(CaptureError, match="cannot capture the model") as raised:
        torch2mlir.compile(rows, torch.rand(3, 3), output_type="linalg-on-tensors")
    assert "in-place writes" not in str(raised.value)


def test_what_is_no_model_is_a_capture_error() -> None:
    with pytest.raises(CaptureError, match="int is neither a module"):
        torch2mlir.compile(3, torch.ones(3))  # type: ignore[arg-type]


def test_wrong_example_inputs_are_a_capture_error() -> None:
    with pytest.raises(CaptureError, match="cannot capture"):
        torch2mlir.compile(nn.Linear(3, 2), torch.ones(4))


def test_wrong_dynamic_shapes_are_a_capture_error() -> None:
    with pytest.raises(CaptureError, match="cannot capture"):
        torch2mlir.compile(
            nn.Linear(3, 2), torch.ones(4, 3), dynamic_shapes=({1: torch.export.Dim("n")},)
        )


UNRANKED = """
func.func @main(%arg0: !torch.vtensor) -> !torch.vtensor {
  %0 = torch.aten.relu %arg0 : !torch.vtensor -> !torch.vtensor loc("model.py":7:1)
  return %0 : !torch.vtensor
}
"""


def test_an_unranked_tensor_does_not_reach_the_contract() -> None:
    module = parse_module(UNRANKED)
    with pytest.raises(BackendContractError) as caught:
        LowerToBackendContractPass().apply(make_context(), module)
    message = str(caught.value)
    assert "rank" in message or "dtype" in message
    assert "torch.aten.relu" in message
    assert "model.py:7" in message
    assert "  next: " in message


@pytest.mark.parametrize(
    "text",
    [
        "func.func @main(",
        "not mlir",
        "func.func @f() { return %0 : !torch.int }",
        "%0 = torch.nope",
    ],
)
def test_malformed_text_is_a_parse_error(text: str) -> None:
    with pytest.raises(ParseError, match="model.mlir is not valid MLIR"):
        parse_module(text, "model.mlir")


@pytest.mark.parametrize("call", [torch2mlir.compile, torch2mlir.export_and_import])
def test_an_unknown_output_type_lists_the_known_ones(call: object) -> None:
    with pytest.raises(Torch2MLIRError, match="unknown output_type 'stablehl'") as caught:
        call(nn.ReLU(), torch.ones(3), output_type="stablehl")  # type: ignore[operator]
    assert "linalg-on-tensors" in str(caught.value.hint)


def test_torch_dialect_cannot_be_run() -> None:
    with pytest.raises(Torch2MLIRError, match="cannot be run"):
        torch2mlir.compile(nn.ReLU(), torch.ones(3), output_type="torch")


def test_an_unknown_engine_lists_the_known_ones() -> None:
    with pytest.raises(EngineError, match="no engine 'abacus'") as caught:
        torch2mlir.compile(nn.ReLU(), torch.ones(3), engine="abacus")
    assert all(name in str(caught.value.hint) for name in ("iree", "reference", "xla"))


def test_an_engine_refuses_a_dialect_it_does_not_take() -> None:
    with pytest.raises(EngineError, match="does not take 'tosa'"):
        torch2mlir.compile(nn.ReLU(), torch.ones(3), output_type="tosa", engine="xla")


def test_an_unknown_weights_mode_lists_the_known_ones() -> None:
    with pytest.raises(Torch2MLIRError, match="unknown weights mode 'outline'") as caught:
        torch2mlir.export_and_import(nn.ReLU(), torch.ones(3), weights="outline")
    assert "inline, external, arguments" in str(caught.value.hint)


def test_a_lowering_for_an_unknown_target_is_refused() -> None:
    with pytest.raises(Torch2MLIRError, match="unknown target 'llvm'"):
        torch2mlir.lowering("mylib::op", "llvm")


def test_fake_weights_have_no_inline_text() -> None:
    with torch.device("meta"):
        model = nn.Linear(3, 2)
    module = torch2mlir.export_and_import(model, torch.ones(4, 3, device="meta"))
    with pytest.raises(CaptureError) as caught:
        str(module)
    assert "fake" in str(caught.value)
    assert 'weights="external"' in str(caught.value.hint)


def test_a_size_from_data_on_xla_names_the_line_of_the_model() -> None:
    class Doubled(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x.clone()
            mask = x > 0
            x[mask] = x[mask].cumsum(0)
            return x

    with pytest.raises(EngineError, match="depends on the elements of a tensor") as caught:
        torch2mlir.compile(Doubled(), torch.randn(6, 3), engine="xla")
    assert "test_bad_programs.py" in str(caught.value.location)
    assert "iree" in str(caught.value.hint)


@pytest.mark.parametrize("engine", ["xla", "iree"])
@pytest.mark.share(2)
def test_sizes_that_stablehlo_cannot_count_are_named(engine: str) -> None:
    """The end of a slice was a ValueError of another library's."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return x[x > 1][1 : 2**40].sum()

    with pytest.raises(UnsupportedOpError, match="count sizes in 32 bits"):
        torch2mlir.compile(function, torch.rand(5) * 4, output_type="stablehlo", engine=engine)


def test_slices_to_the_end_of_what_is_selected() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x[x > 1][1:].sum()

    compiled = torch2mlir.compile(
        function, torch.rand(5) * 4, output_type="stablehlo", engine="iree"
    )
    for _ in range(3):
        x = torch.rand(5) * 4
        torch.testing.assert_close(compiled(x), function(x))
