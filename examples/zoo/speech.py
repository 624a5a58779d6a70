"""Speech models of the zoo; inputs are a log-mel spectrogram and the tokens written so far."""

from __future__ import annotations

from functools import partial

import transformers

from zoo.entry import Attention, Size, ZooModel, build, noise, token_ids


def whisper_tiny(
    size: Size = "full",
    batch: int | None = None,
    sequence: int | None = None,
    attention: Attention = "sdpa",
) -> ZooModel:
    """Whisper-tiny: 1-D convolutions over 30 s of audio, encoder, decoder with cross attention."""
    small = dict(
        vocab_size=101,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=16,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=0,
        eos_token_id=0,
        decoder_start_token_id=0,
    )
    config = transformers.WhisperConfig(
        **(small if size == "small" else {}), attn_implementation=attention, use_cache=False
    )
    batch = batch or (1 if size == "full" else 2)
    sequence = sequence or (32 if size == "full" else 7)
    frames = 2 * config.max_source_positions
    return ZooModel(
        name="whisper-tiny",
        model=build(partial(transformers.WhisperForConditionalGeneration, config)),
        args=(noise(batch, config.num_mel_bins, frames),),
        kwargs={"decoder_input_ids": token_ids(config.vocab_size, batch, sequence)},
        dims={
            "input_features": {0: "batch"},
            "decoder_input_ids": {0: "batch", 1: "sequence"},
        },
        limits={"sequence": config.max_target_positions},
    )
