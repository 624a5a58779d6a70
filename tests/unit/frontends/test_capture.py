"""What capture takes: numbers computed from tensors, types that hold tensors, what only the strict mode traces."""

from __future__ import annotations

from collections import namedtuple
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import torch2mlir
from tests.e2e.agreement import assert_agrees
from torch2mlir.errors import CaptureError, Torch2MLIRError

TARGETS = [("stablehlo", "xla"), ("linalg-on-tensors", "iree"), ("tosa", "iree")]


def check(model: Any, calls: list[Any], output_type: str, engine: str, **named: Any) -> None:
    """Compares a compiled model with eager PyTorch on these calls; the first one is the example."""
    with torch.no_grad():
        compiled = torch2mlir.compile(
            model, *deepcopy(calls[0]), output_type=output_type, engine=engine, **deepcopy(named)
        )
        for args in calls:
            given, named_given = deepcopy((args, named))
            expected_args, expected_named = deepcopy((args, named))
            actual = compiled(*given, **named_given)
            expected = model(*expected_args, **expected_named)
            assert type(actual) is type(expected)
            assert_agrees(actual, expected)


NUMBERS: dict[str, Any] = {
    "item": lambda x: x.sum().item(),
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum() * 10),
    "bool": lambda x: bool(x.sum() > 0),
    "list": lambda x: (x > 0).long().tolist(),
    "arithmetic": lambda x: float(x.max()) * 2 + 1,
    "beside_tensors": lambda x: (x * float(x.sum()), int(x.argmax()), {"first": x[0].item()}),
}


@pytest.mark.share(24)
@pytest.mark.parametrize("output_type, engine", TARGETS)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_computed_from_tensors_are_results(
    name: str, output_type: str, engine: str
) -> None:
    generator = torch.Generator().manual_seed(1)
    calls = [(torch.randn(3, generator=generator),) for _ in range(3)]
    check(NUMBERS[name], calls, output_type, engine)


SIZES: dict[str, Any] = {
    "zeros": lambda x, n: torch.zeros(int(n)),
    "full": lambda x, n: torch.full((n.item(), 2), 3.0) * x[0, 0],
    "arange": lambda x, n: torch.arange(n.item()) * 2,
    "slice_to": lambda x, n: x[: n.item()],
    "slice_from_the_end": lambda x, n: x[-int(n) :] * 2,
    "slice_of_columns": lambda x, n: x[:, : int(n)].sum(1),
    "select": lambda x, n: x[int(n)],
    "size_as_result": lambda x, n: (torch.ones(int(n)).shape[0], len((x > 0).nonzero())),
}


@pytest.mark.share(12)
@pytest.mark.parametrize("name", SIZES)
def test_numbers_computed_from_tensors_are_sizes(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    calls = [(torch.randn(5, 5, generator=generator), torch.tensor(n)) for n in (3, 1, 4)]
    check(SIZES[name], calls, "linalg-on-tensors", "iree")


@pytest.mark.parametrize("output_type, engine", [("stablehlo", "xla"), ("tosa", "iree")])
@pytest.mark.share(2)
def test_where_sizes_cannot_depend_on_elements_that_is_said(output_type: str, engine: str) -> None:
    with pytest.raises(Torch2MLIRError, match="depends? on the elements"):
        torch2mlir.compile(
            lambda n: torch.zeros(int(n)), torch.tensor(3), output_type=output_type, engine=engine
        )


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_narrow_from_a_tensor(output_type: str, engine: str) -> None:
    x = torch.randn(5, 3)
    calls = [(x, torch.tensor(n)) for n in (1, 3, -4)]
    check(
        lambda x, n: (torch.narrow(x, 0, n, 2), x.narrow(1, n % 2, 2)), calls, output_type, engine
    )


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor
    name: str = "pair"


Point = namedtuple("Point", "x y")


def _swapped(pair: Pair) -> Pair:
    return Pair(pair.second * 2, pair.first + 1, pair.name)


def _moved(point: Any) -> Any:
    return Point(point.y + 1, (point.x, {"sum": point.x + point.y}))


@pytest.mark.share(4)
@pytest.mark.parametrize("output_type, engine", TARGETS)
def test_dataclasses_and_named_tuples(output_type: str, engine: str) -> None:
    pairs = [(Pair(torch.randn(2), torch.randn(3)),) for _ in range(3)]
    with torch.no_grad():
        compiled = torch2mlir.compile(_swapped, *pairs[0], output_type=output_type, engine=engine)
        for (pair,) in pairs:
            swapped = compiled(pair)
            assert isinstance(swapped, Pair) and swapped.name == "pair"
            assert torch.allclose(swapped.first, pair.second * 2)
            assert torch.allclose(swapped.second, pair.first + 1)
    check(_moved, [(Point(torch.randn(2), torch.randn(2)),) for _ in range(3)], output_type, engine)


@dataclass
class Made:
    value: torch.Tensor


def test_a_type_that_only_a_result_has() -> None:
    made = torch2mlir.compile(lambda x: Made(x + 1), torch.zeros(2))(torch.ones(2))
    assert isinstance(made, Made) and torch.equal(made.value, torch.full((2,), 2.0))


def _small_model() -> Any:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.mark.parametrize("output_type, engine", TARGETS)
@torch.no_grad()
@pytest.mark.share(3)
def test_a_module_that_holds_a_static_cache(output_type: str, engine: str) -> None:
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    model = _small_model()
    model.generation_config.use_cache = True
    model.generation_config.cache_implementation = "static"
    module = TorchExportableModuleWithStaticCache(model, batch_size=1, max_cache_len=8)
    eager = deepcopy(module)

    def given(token: int, place: int) -> dict[str, torch.Tensor]:
        return {"input_ids": torch.tensor([[token]]), "cache_position": torch.tensor([place])}

    compiled = torch2mlir.compile(
        module, example_kwargs=given(3, 0), output_type=output_type, engine=engine
    )
    for place, token in enumerate((3, 7, 9)):
        expected = eager(**given(token, place))
        torch.testing.assert_close(compiled(**given(token, place)), expected, atol=1e-5, rtol=1e-4)
        for ours, theirs in zip(module.buffers(), eager.buffers(), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", ["DynamicCache", "StaticCache"])
@pytest.mark.parametrize("output_type, engine", TARGETS)
@torch.no_grad()
@pytest.mark.share(8)
def test_caches_of_transformers(kind: str, output_type: str, engine: str) -> None:
    import transformers

    model = _small_model()
    options = {} if kind == "DynamicCache" else {"max_cache_len": 8}
    cache = getattr(transformers, kind)(config=model.config, **options)
    model(torch.tensor([[3, 4, 5]]), past_key_values=cache)
    tokens = [torch.tensor([[place]]) for place in (7, 9, 2)]
    compiled = torch2mlir.compile(
        model,
        tokens[0],
        past_key_values=deepcopy(cache),
        output_type=output_type,
        engine=engine,
    )
    mine = deepcopy(cache)
    for token in tokens:
        given, theirs = mine, cache
        if kind == "StaticCache":  # written in place, call after call
            actual = compiled(token, past_key_values=mine)
            expected = model(token, past_key_values=cache)
            assert torch.equal(mine.layers[0].cumulative_length, cache.layers[0].cumulative_length)
        else:  # grows
            given, theirs = deepcopy(cache), deepcopy(cache)
            layer = given.layers[0]
            actual = compiled(token, past_key_values=given)
            expected = model(token, past_key_values=theirs)
            assert (
                layer is given.layers[0] and given.get_seq_length() == theirs.get_seq_length() == 4
            )
            assert actual.past_key_values is given
        assert type(actual) is type(expected)
        assert torch.allclose(actual.logits, expected.logits, atol=1e-5)
        for got, want in zip(
            pytree.tree_leaves(actual.past_key_values),
            pytree.tree_leaves(expected.past_key_values),
            strict=True,
        ):
            assert torch.allclose(got, want, atol=1e-5)


@torch.no_grad()
def test_a_cache_that_is_changed_and_not_returned_is_refused() -> None:
    import transformers

    model = _small_model()

    def logits(token: torch.Tensor, cache: Any) -> torch.Tensor:
        return model(token, past_key_values=cache).logits

    cache = transformers.DynamicCache(config=model.config)
    model(torch.tensor([[3, 4, 5]]), past_key_values=cache)
    with pytest.raises(CaptureError, match="DynamicCache, and does not return it"):
        torch2mlir.compile(logits, torch.tensor([[7]]), cache)


class Opaque:
    """Neither a dataclass nor registered."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class Broken(nn.Module):
    """Runs in two halves under torch.compile."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * 2
        torch._dynamo.graph_break()
        return x + 1 if float(str(x.sum().item())) > 0 else x


def _hint_of(model: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(CaptureError) as caught:
        torch2mlir.compile(model, *args, **options)
    return f"{caught.value.message}\n{caught.value.hint}"


class Unscriptable(nn.Module):
    """Neither ``torch.export`` nor ``torch.jit.script`` takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        class Local:
            pass

        return self.part(x) if torch.all(self.part.bias * x > 100) else x


def test_failing_captures_leave_no_attributes_behind() -> None:
    model = Unscriptable().eval()
    before = [sorted(vars(part)) for part in model.modules()]
    with pytest.raises(CaptureError):
        torch2mlir.compile(model, torch.randn(2, 3))
    assert [sorted(vars(part)) for part in model.modules()] == before


def test_hints_fit_the_cause(capfd: pytest.CaptureFixture[str]) -> None:
    missing = _hint_of(nn.Linear(3, 2))
    assert "missing a required argument: 'input'" in missing and "torch.cond" not in missing
    opaque = _hint_of(lambda o: o.tensor, Opaque(torch.ones(3)))
    assert "register_pytree_node" in opaque and "torch.cond" not in opaque
    shapes = ({0: torch.export.Dim("n", min=9, max=20)},)
    bounds = _hint_of(lambda x: x + 1, torch.ones(3), dynamic_shapes=shapes)
    assert "dynamic_shapes" in bounds and "torch.cond" not in bounds
    branch = _hint_of(lambda x: x if x.sum() > 0 else -x, torch.ones(3))
    assert "torch.cond" in branch and "torch2mlir.optimize" in branch
    assert "Caused by" not in branch
    broken = _hint_of(Broken(), torch.ones(3))
    assert "torch2mlir.optimize" in broken and "torch.cond" not in broken
    own = _hint_of(nn.Linear(3, 2), torch.ones(4))
    assert "the model itself raises this" in own
    absent = _hint_of(lambda x: x.no_such_method(), torch.ones(3))
    assert "the model itself raises this" in absent
    auto = ({0: torch.export.Dim.AUTO},)
    no_integer = _hint_of(lambda x: x * x.shape[0].numerator, torch.ones(3), dynamic_shapes=auto)
    assert "the model runs on the example arguments" in no_integer
    assert "torch2mlir.optimize" in no_integer
    packed = _hint_of(nn.Linear(3, 2), (torch.ones(3),))
    assert "give them one after the other" in packed
    assert not capfd.readouterr().err, "PyTorch's dumps and warnings stay off the terminal"


PYTORCHS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "softmax": (torch.softmax, (torch.randn(3, 4), 1)),
    "add": (torch.add, (torch.randn(3, 1), torch.randn(3, 4))),
    "method": (torch.Tensor.exp, (torch.randn(3),)),
    "linalg": (torch.linalg.det, (torch.randn(3, 2, 2),)),
    "op": (torch.ops.aten.relu, (torch.randn(3),)),
    "overload": (torch.ops.aten.mul.Tensor, (torch.randn(3), torch.randn(3))),
}


@pytest.mark.parametrize("name", PYTORCHS)
def test_sizes_of_functions_without_a_signature(name: str) -> None:
    """Python does not know the parameters of PyTorch's own; their sizes could not vary."""
    function, example = PYTORCHS[name]
    rows = torch.export.Dim("rows", min=2, max=16)
    shapes = tuple({0: rows} if isinstance(x, torch.Tensor) else None for x in example)
    compiled = torch2mlir.compile(function, *example, engine="reference", dynamic_shapes=shapes)
    for size in (3, 7, 2):
        given = tuple(
            torch.randn(size, *x.shape[1:]) if isinstance(x, torch.Tensor) else x for x in example
        )
        torch.testing.assert_close(compiled(*given), function(*given))
