"""Which function lowers which op to which dialect, the user's own included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from torch2mlir.errors import Torch2MLIRError

LoweringFunction = Callable[..., Any]

TARGETS: dict[str, str] = {
    "linalg-on-tensors": "torch2mlir.conversion.torch_to_linalg",
    "stablehlo": "torch2mlir.conversion.torch_to_stablehlo",
    "tosa": "torch2mlir.conversion.torch_to_tosa",
}
"""Target -> package whose import registers the lowerings; each also has ``LOWERING``, its :class:`Lowering` class."""

_LOWERINGS: dict[str, dict[str, LoweringFunction]] = {target: {} for target in TARGETS}


def target_name(name: str) -> str:
    """The canonical target name; ``linalg`` and underscores are accepted.

    Raises:
        Torch2MLIRError: no such target.
    """
    canonical = name.lower().replace("_", "-")
    canonical = {"linalg": "linalg-on-tensors"}.get(canonical, canonical)
    if canonical not in TARGETS:
        raise Torch2MLIRError(f"unknown target '{name}'", hint=f"use one of {', '.join(TARGETS)}")
    return canonical


def op_name(name: str) -> str:
    """The dialect's op name for what people write: ``aten.exp``, ``mylib::op``, ``torch.aten.exp``."""
    dotted = name.replace("::", ".").removesuffix(".default")
    return dotted if dotted.startswith("torch.") else f"torch.{dotted}"


def lowers(target: str, *names: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Registers ``function(lower, *operands)`` as the lowering of ops to a target; a later one replaces an earlier.

    The operands come in the order of the op's schema: tensors as
    :class:`~torch2mlir.conversion.lowering.Tensor`, constants as Python values, sizes as ints or
    :class:`~torch2mlir.dialects.torch.dims.Dim`. The function returns a tensor per result.
    """
    table = _LOWERINGS[target_name(target)]

    def register(function: LoweringFunction) -> LoweringFunction:
        for name in names:
            table[op_name(name)] = function
        return function

    return register


def lowering_functions(target: str) -> Mapping[str, LoweringFunction]:
    """Op name -> lowering function of a target, all families loaded."""
    canonical = target_name(target)
    import_module(TARGETS[canonical])
    return MappingProxyType(_LOWERINGS[canonical])


def lowering(name: str, target: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Registers the user's own lowering of an op, ``@torch2mlir.lowering("mylib::op", "stablehlo")``.

    An op with a lowering is kept whole on the way to the backend contract for that target. See :func:`lowers` for
    what the function gets and returns.
    """
    _OWN[target_name(target)].add(op_name(name))
    return lowers(target, name)


_OWN: dict[str, set[str]] = {target: set() for target in TARGETS}


def own_ops(target: str) -> frozenset[str]:
    """The ops the user has registered lowerings for."""
    return frozenset(_OWN[target_name(target)])
