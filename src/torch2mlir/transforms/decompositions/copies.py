"""``aten.*_copy``: what functionalization writes for a view; to a value they are the view."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import OpOverload, OpOverloadPacket

from torch2mlir.transforms.decompositions.registry import decomposes

aten = torch.ops.aten

_VIEWS = (
    "_conj _neg_view _reshape_alias alias as_strided detach diagonal expand permute select slice split split_with_sizes"
    " squeeze t transpose unbind unfold unsqueeze view view_as_complex view_as_real"
)


def _register(copy: OpOverload, view: OpOverload) -> None:
    @decomposes(copy)
    def copied(*args: Any, **options: Any) -> Any:
        return view(*args, **options)


for _name in _VIEWS.split():
    _copies: OpOverloadPacket = getattr(aten, f"{_name}_copy")
    for _overload in _copies.overloads():
        _copy = getattr(_copies, _overload)
        if not _copy._schema.is_mutable:
            _register(_copy, getattr(getattr(aten, _name), _overload))
