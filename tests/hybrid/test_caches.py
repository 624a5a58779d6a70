"""Caches of transformers in ``optimize``, and in ``compile``: the caller's own object is changed as the model does it.

The cache that a caller keeps stayed empty under ``optimize``; tensors in dictionaries of a cache's layers (the states
of linear attention) were those of the example in every call; caches of two caches could not be taken apart; and a
``DynamicCache`` had a program for each length, of which there are eight.
"""

from __future__ import annotations

import copy
import logging
from collections import OrderedDict, defaultdict, deque, namedtuple
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir.errors import ArtefactError, CaptureError, InputError
from torch2mlir.frontends.pytrees import register_types

transformers = pytest.importorskip("transformers")
OF_DECODERS = {
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def llama() -> nn.Module:
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**OF_DECODERS)).eval()


def mistral() -> nn.Module:
    config = transformers.MistralConfig(**OF_DECODERS, sliding_window=4)
    return transformers.MistralForCausalLM(config).eval()


def mamba() -> nn.Module:
    config = transformers.MambaConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, state_size=4
    )
    return transformers.MambaForCausalLM(config).eval()


def t5() -> Any:
    sizes = {"vocab_size": 40, "d_model": 16, "d_kv": 4, "d_ff": 16}
    config = transformers.T5Config(**sizes, num_layers=1, num_heads=2, decoder_start_token_id=0)
    return transformers.T5ForConditionalGeneration(config).eval()


def assert_same_cache(one: Any, other: Any) -> None:
    register_types((one, other))
    assert type(one) is type(other)
    assert_close(pytree.tree_leaves(one), pytree.tree_leaves(other), rtol=1e-4, atol=1e-5)
    assert pytree.tree_structure(one) == pytree.tree_structure(other)


@torch.no_grad()
@pytest.mark.parametrize("make, name", [(llama, "past_key_values"), (mamba, "cache_params")])
@pytest.mark.parametrize("allow_tracing", [True, False])
@pytest.mark.share(2)
def test_the_callers_cache_grows(make: Any, name: str, allow_tracing: bool) -> None:
    torch.manual_seed(0)
    model, ids = make(), torch.randint(1, 40, (1, 12))
    optimized = torch2mlir.optimize(model, allow_tracing=allow_tracing, engine="onnxruntime")
    ours, eagers = (transformers.DynamicCache(config=model.config) for _ in range(2))
    for start, stop in ((0, 5), (5, 6), (6, 7), (7, 8), (8, 9)):
        given = {"input_ids": ids[:, start:stop], "use_cache": True}
        result, wanted = optimized(**given, **{name: ours}), model(**given, **{name: eagers})
        assert_close(result.logits, wanted.logits, rtol=1e-4, atol=1e-5)
        assert result[name] is ours
        assert_same_cache(ours, eagers)


@torch.no_grad()
@pytest.mark.parametrize(
    "make, engine", [(llama, "onnxruntime"), (llama, "xla"), (mistral, "onnxruntime")]
)
@pytest.mark.share(3)
def test_one_program_for_all_lengths(make: Any, engine: str) -> None:
    """On XLA and IREE keys and values had lengths of their own, and each length a program."""
    torch.manual_seed(0)
    model, ids = make(), torch.randint(1, 40, (1, 24))
    optimized = torch2mlir.optimize(model, engine=engine)
    result, wanted = optimized(input_ids=ids[:, :6]), model(input_ids=ids[:, :6])
    for place in range(6, 20):
        given = {"input_ids": ids[:, place : place + 1]}
        result = optimized(**given, past_key_values=result.past_key_values)
        wanted = model(**given, past_key_values=wanted.past_key_values)
        assert_close(result.logits, wanted.logits, rtol=1e-4, atol=1e-5)
    assert_same_cache(result.past_key_values, wanted.past_key_values)
    assert "0 of them all in PyTorch" in str(optimized.report())
    assert make is mistral or len(optimized.captured_programs) == 2


@pytest.mark.parametrize("make", [llama, t5])
@pytest.mark.share(2)
def test_generation(make: Any) -> None:
    """Every call of ``generate`` has further arguments, of which PyTorch refused the sizes."""
    torch.manual_seed(0)
    model, ids = make(), torch.randint(1, 40, (2, 6))
    optimized, generator = torch2mlir.optimize(model, engine="onnxruntime"), copy.copy(model)

    @wraps(model.forward)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return optimized(*args, **kwargs)

    generator.forward = forward
    for options in ({}, {"num_beams": 3}, {"do_sample": True}):
        found = list[Tensor]()
        for each in (generator, model):
            torch.manual_seed(1)
            found.append(each.generate(ids, max_new_tokens=8, **options))
        assert torch.equal(*found)
    assert "0 of them all in PyTorch" in str(optimized.report())


@torch.no_grad()
@pytest.mark.parametrize("way", ["optimize", "stablehlo", "onnx"])
@pytest.mark.share(3)
def test_states_in_dictionaries(way: str) -> None:
    torch.manual_seed(0)
    model, token = mamba(), torch.tensor([[3], [4]])

    def cache(seed: int) -> Any:
        torch.manual_seed(seed)
        return model(input_ids=torch.randint(1, 40, (2, 5)), use_cache=True).cache_params

    if way == "optimize":
        given = {"input_ids": token, "cache_params": cache(9)}
        run = torch2mlir.optimize(model, model_inputs=given, engine="onnxruntime")
    else:
        run = torch2mlir.compile(model, input_ids=token, cache_params=cache(9), output_type=way)
    for seed in (1, 2, 3):
        ours, eagers = cache(seed), cache(seed)
        for _ in range(2):
            result = run(input_ids=token, cache_params=ours)
            wanted = model(input_ids=token, cache_params=eagers)
            assert_close(result.logits, wanted.logits, rtol=1e-4, atol=1e-5)
            assert_same_cache(ours, eagers)


@torch.no_grad()
@pytest.mark.parametrize("way", ["optimize", "stablehlo"])
@pytest.mark.share(2)
def test_caches_of_two_caches(way: str) -> None:
    torch.manual_seed(0)
    model, source = t5(), torch.randint(1, 40, (2, 5))
    encoded = model.encoder(source)

    def start() -> Any:
        return model(encoder_outputs=encoded, decoder_input_ids=source[:, :1]).past_key_values

    given = {"encoder_outputs": encoded, "decoder_input_ids": source[:, 1:2].clone()}
    if way == "optimize":
        run = torch2mlir.optimize(model, engine="onnxruntime")
    else:
        run = torch2mlir.compile(model, **given, past_key_values=start(), output_type=way)
    for _ in range(3):
        given["decoder_input_ids"] = torch.randint(1, 40, (2, 1))
        ours, eagers = start(), start()
        result = run(**given, past_key_values=ours)
        wanted = model(**given, past_key_values=eagers)
        assert_close(result.logits, wanted.logits, rtol=1e-4, atol=1e-5)
        assert result.past_key_values is ours
        assert_same_cache(ours, eagers)


@torch.no_grad()
def test_caches_cannot_be_saved(tmp_path: Path) -> None:
    model, ids = llama(), torch.randint(1, 40, (1, 5))
    given = {"input_ids": ids[:, :1], "past_key_values": model(input_ids=ids).past_key_values}
    optimized = torch2mlir.optimize(model, model_inputs=given, engine="onnxruntime")
    with pytest.raises(ArtefactError, match="cannot keep the arguments or results"):
        torch2mlir.save(optimized, tmp_path / "saved")
    assert not any(tmp_path.iterdir())


class OfTwo(nn.Module):
    def forward(self, x: Tensor, one: Any, other: Any) -> Any:
        keys, _ = one.update(x, x * 2, 0)
        _, values = other.update(x + 1, x * 3, 0)
        return keys.sum(2) + values.sum(2), {"a": [one], "b": one}, other


@torch.no_grad()
def test_one_cache_as_two_arguments() -> None:
    model = OfTwo()
    ours, eagers = transformers.DynamicCache(), transformers.DynamicCache()
    optimized = torch2mlir.optimize(model)
    for _ in range(3):
        x = torch.randn(1, 2, 1, 4)
        assert_close(optimized(x, ours, ours)[0], model(x, eagers, eagers)[0])
        assert_same_cache(ours, eagers)
    x, one, other = torch.randn(1, 2, 1, 4), *(transformers.DynamicCache() for _ in range(2))
    with pytest.raises(CaptureError, match="two arguments are one cache"):
        torch2mlir.compile(model, x, one, one)
    compiled = torch2mlir.compile(model, x, one, other, output_type="stablehlo")
    cache = transformers.DynamicCache()
    with pytest.raises(InputError, match="two arguments are one cache"):
        compiled(x, cache, cache)
    result = compiled(x, cache, other)
    assert result[1]["a"][0] is cache and result[1]["b"] is cache and result[2] is other


class Knowing(transformers.DynamicCache):
    """A layer that knows its cache, and tensors by names that look alike."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = {1: torch.zeros(1), "1": torch.ones(1)}

    def update(self, *args: Any, **kwargs: Any) -> Any:
        found = super().update(*args, **kwargs)
        self.layers[0].cache = self
        self.counts[1] = self.counts[1] + 1
        return found


class Counting(nn.Module):
    def forward(self, x: Tensor, cache: Any) -> Any:
        keys, _ = cache.update(x, x * 2, 0)
        return keys.sum(2) * cache.counts[1] + cache.counts["1"], cache


@torch.no_grad()
def test_layers_that_know_their_cache() -> None:
    ours, eagers, optimized = Knowing(), Knowing(), torch2mlir.optimize(Counting())
    for _ in range(3):
        x = torch.randn(1, 2, 1, 4)
        result, wanted = optimized(x, ours), Counting()(x, eagers)
        assert_close(result[0], wanted[0])
        assert result[1] is ours and ours.layers[0].cache is ours
        assert_same_cache(ours, eagers)


class Filling(nn.Module):
    def forward(self, x: Tensor, cache: Any) -> Tensor:
        keys, _ = cache.update(x, x * 2, 0)
        return keys.sum(2) + 1


@torch.no_grad()
def test_a_cache_that_is_not_returned() -> None:
    optimized, ours, eagers = (
        torch2mlir.optimize(Filling()),
        *(transformers.DynamicCache() for _ in range(2)),
    )
    for _ in range(4):
        x = torch.randn(1, 2, 1, 4)
        assert_close(optimized(x, ours), Filling()(x, eagers))
        assert_same_cache(ours, eagers)


@torch.no_grad()
def test_weights_that_are_what_they_are_made_of() -> None:
    """``weight.float()`` of floats is the weight, which wants gradients; nobody differentiates it."""

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4))

        def forward(self, x: Tensor) -> Tensor:
            return (x * (1.0 + self.weight.float())).sin() + x.cos()

    model = Scaled()
    optimized = torch2mlir.optimize(model, allow_tracing=False, min_cluster_size=1)
    for rows in (2, 3, 4):
        x = torch.randn(rows, 4)
        assert_close(optimized(x), model(x))
    assert "left to PyTorch, for gradients" not in str(optimized.report())


class State:
    """What a user's own cache holds tensors in."""

    def __init__(self) -> None:
        self.sum = torch.zeros(2, 4)
        self.log = logging.getLogger("caches")  # of which there is one


Both = namedtuple("Both", "sum product")


class OwnCache(transformers.DynamicCache):  # type: ignore[misc]
    def __init__(self, held: Any) -> None:
        super().__init__()
        self.held = held


def own_cache(kind: str) -> OwnCache:
    holders = {
        "object": State(),
        "named tuple": Both(torch.zeros(2, 4), torch.ones(2, 4)),
        "ordered dictionary": OrderedDict(state=State()),
        "defaultdict": defaultdict(list, {"sums": [torch.zeros(2, 4)]}),
        "deque": deque([torch.zeros(2, 4)]),
    }
    return OwnCache(holders[kind])


class Accumulates(nn.Module):
    def forward(self, x: Tensor, cache: Any) -> tuple[Tensor, Any]:
        held = cache.held
        if isinstance(held, tuple):
            cache.held = held = held._replace(sum=held.sum + x, product=held.product * x)
            return held.sum * held.product, cache
        if isinstance(held, deque | defaultdict):
            line = held if isinstance(held, deque) else held["sums"]
            line[0] = line[0] + x
            return line[0] * 2, cache
        state = held if isinstance(held, State) else held["state"]
        state.sum = state.sum + x
        return state.sum * 2, cache


def _tensors_held(cache: Any) -> list[Tensor]:
    held = cache.held
    parts = list(held.values()) if isinstance(held, dict) else held
    parts = [parts] if isinstance(held, State) else parts
    flat = pytree.tree_leaves([vars(part) if isinstance(part, State) else part for part in parts])
    return [leaf for leaf in flat if isinstance(leaf, Tensor)]


@torch.no_grad()
@pytest.mark.parametrize(
    "kind", ["object", "named tuple", "ordered dictionary", "defaultdict", "deque"]
)
@pytest.mark.parametrize("way", ["optimize", "compile"])
def test_whatever_a_users_cache_holds_tensors_in(kind: str, way: str) -> None:
    """FakeTensors came into the caller's cache, and the program had the example's tensors."""
    torch.manual_seed(0)
    model, ours, eagers = Accumulates(), own_cache(kind), own_cache(kind)
    if way == "optimize":
        run = torch2mlir.optimize(model, engine="onnxruntime")
    else:
        run = torch2mlir.compile(model, torch.randn(2, 4), own_cache(kind))
    for _ in range(3):
        x = torch.randn(2, 4)
        result, wanted = run(x, ours), model(x, eagers)
        assert_close(result[0], wanted[0])
        assert result[1] is ours
        assert_close(_tensors_held(ours), _tensors_held(eagers))


class CountsTokens(nn.Module):
    """As layers of sliding windows do."""

    def forward(self, x: Tensor) -> Any:
        cache = transformers.DynamicCache()
        cache.update(x, x * 2, 0)
        cache.layers[0].tokens = x.shape[2]
        return x.sum(2), cache


@torch.no_grad()
def test_tokens_that_vary_are_counted() -> None:
    """They were those of the example, or PyTorch's own error about data pointers."""
    model, optimized = CountsTokens(), torch2mlir.optimize(CountsTokens())
    with pytest.raises(CaptureError, match="counts tokens in Python"):
        torch2mlir.compile(
            model, torch.randn(1, 2, 6, 4), dynamic_shapes=({2: torch.export.Dim.AUTO},)
        )
    for length in (6, 3, 5, 6, 1):
        x = torch.randn(1, 2, length, 4)
        (result, cache), (wanted, theirs) = optimized(x), model(x)
        assert_close(result, wanted)
        assert_same_cache(cache, theirs)
        assert cache.layers[0].tokens == length
