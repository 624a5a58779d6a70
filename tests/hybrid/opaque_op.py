"""An op that no dialect has a word or a formula for."""

from __future__ import annotations

import torch

_library = torch.library.Library("t2m_hybrid", "DEF")
_library.define("opaque(Tensor x) -> Tensor")
_library.impl("opaque", lambda x: x.flip(0) * 2, "CPU")
_library.impl("opaque", torch.empty_like, "Meta")
opaque = torch.ops.t2m_hybrid.opaque
