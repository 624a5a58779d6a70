"""Calls that TorchDynamo leaves alone: of compiled functions in what somebody gives to ``torch.compile``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Called = Callable[[Sequence[Any], Mapping[str, Any]], Any]


def out_of_sight(function: Called) -> Callable[..., Any]:
    """The function as one of the arguments themselves; a graph breaks there."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(args, kwargs)

    disabled: Callable[..., Any] = torch._dynamo.disable(
        call, reason="torch2mlir has compiled it already"
    )
    return disabled
