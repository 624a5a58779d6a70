"""Image models of the zoo; inputs are ``pixel_values`` of shape [batch, 3, height, width]."""

from __future__ import annotations

from functools import partial

import transformers
from torch import nn

from zoo.entry import Attention, Size, ZooModel, build, noise


def resnet50(size: Size = "full", batch: int | None = None) -> ZooModel:
    """ResNet-50 classifier (batch norm, max pooling, 25 million weights)."""
    small = dict(embedding_size=8, hidden_sizes=[16, 32], depths=[1, 2], num_labels=10)
    config = transformers.ResNetConfig(**_labels(size, small))
    make = partial(transformers.ResNetForImageClassification, config)
    return _images("resnet50", make, size, batch, small_side=32)


def vit_base(
    size: Size = "full", batch: int | None = None, attention: Attention = "sdpa"
) -> ZooModel:
    """Vision Transformer, base, 16x16 patches."""
    small = dict(image_size=32, patch_size=8, num_labels=10, **_narrow)
    config = transformers.ViTConfig(**_labels(size, small), attn_implementation=attention)
    make = partial(transformers.ViTForImageClassification, config)
    return _images("vit-base", make, size, batch, small_side=32)


def swin_tiny(size: Size = "full", batch: int | None = None) -> ZooModel:
    """Swin Transformer, tiny: shifted windows, so rolls and window partitions."""
    small = dict(
        image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4
    )
    config = transformers.SwinConfig(**_labels(size, small | {"num_labels": 10}))
    make = partial(transformers.SwinForImageClassification, config)
    return _images("swin-tiny", make, size, batch, small_side=32)


def convnext_tiny(size: Size = "full", batch: int | None = None) -> ZooModel:
    """ConvNeXt, tiny: depthwise 7x7 convolutions, channels-last layer norm, layer scale."""
    small = dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], image_size=64, num_labels=10)
    config = transformers.ConvNextConfig(**_labels(size, small))
    make = partial(transformers.ConvNextForImageClassification, config)
    return _images("convnext-tiny", make, size, batch, small_side=64)


def mobilenet_v2(size: Size = "full", batch: int | None = None) -> ZooModel:
    """MobileNetV2: depthwise convolutions, ReLU6, TensorFlow-style asymmetric padding."""
    small = dict(depth_multiplier=0.25, image_size=64, num_labels=10)
    config = transformers.MobileNetV2Config(**_labels(size, small))
    make = partial(transformers.MobileNetV2ForImageClassification, config)
    return _images("mobilenet-v2", make, size, batch, small_side=64)


_narrow = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)


def _labels(size: Size, small: dict[str, object]) -> dict[str, object]:
    return small if size == "small" else {"num_labels": 1000}


def _images(
    name: str, make: partial[nn.Module], size: Size, batch: int | None, small_side: int
) -> ZooModel:
    batch = batch or (1 if size == "full" else 2)
    side = 224 if size == "full" else small_side
    return ZooModel(
        name=name,
        model=build(make),
        args=(noise(batch, 3, side, side),),
        dims={"pixel_values": {0: "batch"}},
    )
