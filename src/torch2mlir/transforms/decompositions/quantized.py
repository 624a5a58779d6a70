"""Quantization as arithmetic on integers and floats: ``quantized_decomposed`` ops and fake quantization."""

from __future__ import annotations
