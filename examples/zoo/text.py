"""Language models of the zoo; inputs are token ids [batch, sequence] and an attention mask."""

from __future__ import annotations

from functools import partial
from typing import Any

import transformers
from torch import nn

from zoo.entry import Attention, Size, ZooModel, attention_mask, build, token_ids

SMALL_VOCABULARY = 101


def bert_base(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
) -> ZooModel:
    """BERT-base encoder with its pooler: two outputs, one of them [batch, sequence, hidden]."""
    small = dict(
        vocab_size=SMALL_VOCABULARY,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    config = transformers.BertConfig(**_choose(size, small), attn_implementation=attention)
    make = partial(transformers.BertModel, config)
    limit = config.max_position_embeddings
    return _masked("bert-base", make, config.vocab_size, size, batch, sequence, limit)


def distilbert(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
) -> ZooModel:
    """DistilBERT with a masked-language-model head, whose weight is tied to the embedding."""
    small = dict(
        vocab_size=SMALL_VOCABULARY,
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=64,
        max_position_embeddings=64,
    )
    config = transformers.DistilBertConfig(**_choose(size, small), attn_implementation=attention)
    make = partial(transformers.DistilBertForMaskedLM, config)
    limit = config.max_position_embeddings
    return _masked("distilbert", make, config.vocab_size, size, batch, sequence, limit)


def gpt2(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
) -> ZooModel:
    """GPT-2 with its language-model head, tied to the embedding; no key-value cache."""
    small = dict(
        vocab_size=SMALL_VOCABULARY,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=0,
    )
    config = transformers.GPT2Config(
        **_choose(size, small), attn_implementation=attention, use_cache=False
    )
    make = partial(transformers.GPT2LMHeadModel, config)
    limit = config.n_positions
    return _masked("gpt2", make, config.vocab_size, size, batch, sequence, limit)


def llama(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
    layers: int = 32,
    hidden: int = 256,
) -> ZooModel:
    """A deep and narrow Llama: grouped-query attention, rotary embedding, RMS norm."""
    if size == "small":
        layers, hidden = 2, 32
    config = transformers.LlamaConfig(
        vocab_size=SMALL_VOCABULARY if size == "small" else 1024,
        hidden_size=hidden,
        intermediate_size=hidden * 11 // 4,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        attn_implementation=attention,
        use_cache=False,
    )
    make = partial(transformers.LlamaForCausalLM, config)
    name = "llama" if layers == 32 else f"llama-{layers}"
    limit = config.max_position_embeddings
    return _masked(name, make, config.vocab_size, size, batch, sequence, limit)


def t5_small(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
) -> ZooModel:
    """T5-small: relative position buckets, cross attention, two sequence lengths."""
    small = dict(
        vocab_size=SMALL_VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=20,
    )
    config = transformers.T5Config(
        **_choose(size, small), attn_implementation=attention, use_cache=False
    )
    entry = _masked(
        "t5-small",
        partial(transformers.T5ForConditionalGeneration, config),
        config.vocab_size,
        size,
        batch,
        sequence,
        512,
    )
    rows, length = entry.args[0].shape
    entry.kwargs["decoder_input_ids"] = token_ids(config.vocab_size, rows, length // 2 + 1, seed=1)
    entry.dims["decoder_input_ids"] = {0: "batch", 1: "target"}
    entry.limits["target"] = 512
    return entry


def _choose(size: Size, small: dict[str, Any]) -> dict[str, Any]:
    return small if size == "small" else {}


def _masked(
    name: str,
    make: partial[nn.Module],
    vocabulary: int,
    size: Size,
    batch: int | None,
    sequence: int | None,
    limit: int,
) -> ZooModel:
    batch = batch or (1 if size == "full" else 2)
    sequence = sequence or (128 if size == "full" else 10)
    return ZooModel(
        name=name,
        model=build(make),
        args=(token_ids(vocabulary, batch, sequence),),
        kwargs={"attention_mask": attention_mask(batch, sequence)},
        dims={
            "input_ids": {0: "batch", 1: "sequence"},
            "attention_mask": {0: "batch", 1: "sequence"},
        },
        limits={"sequence": limit},
    )
