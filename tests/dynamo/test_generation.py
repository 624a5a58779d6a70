"""Text of a language model of transformers through torch.compile, token by token as eager mode has it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import transformers

from tests.dynamo.agreement import compiled
from torch2mlir import dynamo


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=67,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=32,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "cache",
    [pytest.param("static", marks=pytest.mark.full("the demo has one")), "dynamic"],
)
def test_generated_tokens(model: Any, cache: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Prefill and decode are compiled whole: of a dynamic cache, keys and values turn out to be of one length."""
    prompt = torch.randint(1, 67, (1, 5))
    settings = {"max_new_tokens": 3, "do_sample": True, "disable_compile": True}
    if cache == "static":
        settings["cache_implementation"] = "static"
    twin = copy.copy(model)
    dynamic = True if cache == "dynamic" else None
    twin.forward = compiled(model.forward, {"fallback": False}, dynamic=dynamic)
    for seed in range(2):
        torch.manual_seed(seed)
        expected = model.generate(prompt, **settings)
        torch.manual_seed(seed)
        assert torch.equal(twin.generate(prompt, **settings), expected)
    assert dynamo.metrics().fallbacks == {}
    assert "fake_tensor.py" not in capfd.readouterr().err


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(query, key, value)


def test_sizes_that_attention_needs_equal_are_guarded() -> None:
    """What was taken for one size and is two in a later call is an error there, as it is in eager mode."""
    function = compiled(attend, {"fallback": False}, dynamic=True)

    def call(keys: int, values: int) -> torch.Tensor:
        torch.manual_seed(keys)
        given = [torch.randn(1, 2, n, 4) for n in (3, keys, values)]
        with torch.no_grad():
            torch.testing.assert_close(function(*given), attend(*given))
        return given[0]

    call(5, 5)
    call(7, 7)
    with pytest.raises(Exception, match="size|shape"):
        call(7, 9)
    call(6, 6)
