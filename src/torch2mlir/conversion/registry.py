"""Which function lowers which op to which dialect, the user's own included."""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from torch2mlir.contract.op_name import OpName
from torch2mlir.contract.target import Target, get_target
from torch2mlir.loading import loaded

LoweringFunction = Callable[..., Any]

_LOWERINGS = defaultdict[str, dict[str, LoweringFunction]](dict)
_SHARED: dict[str, LoweringFunction] = {}
"""Lowerings in the words that all dialects share; a target's own go before them."""
_SHARED_FAMILIES = (
    "indexing",
    "scatter",
    "constructors",
    "data_movement",
    "elementwise",
    "linear",
    "pooling",
    "reduction",
)


def lowers(target: str, *names: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Registers ``function(lower, *operands)`` as the lowering of ops to a target; a later one replaces an earlier.

    The operands come in the order of the op's schema: tensors as
    :class:`~torch2mlir.conversion.lowering.Tensor`, constants as Python values, sizes as ints or
    :class:`~torch2mlir.dialects.torch.dims.Dim`. The function returns a tensor per result.
    """
    return _registers(_LOWERINGS[get_target(target).name], names)


def lowers_everywhere(*names: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """As :func:`lowers`, for every target that has no lowering of its own: a function of shared words only."""
    return _registers(_SHARED, names)


def _registers(
    table: dict[str, LoweringFunction], names: Sequence[str]
) -> Callable[[LoweringFunction], LoweringFunction]:
    def register(function: LoweringFunction) -> LoweringFunction:
        table.update((OpName.of(name), function) for name in names)
        return function

    return register


def lowering_functions(target: str) -> Mapping[str, LoweringFunction]:
    """Op name -> lowering function of a target, all families loaded.

    Its own come before those of its base, and those before what is said in shared words.
    """
    return _functions_of(get_target(target))


@cache
def _functions_of(target: Target) -> Mapping[str, LoweringFunction]:
    _ = target.lowering_class  # its import registers them
    _load_shared()
    return ChainMap(*[_LOWERINGS[each.name] for each in target.family], _SHARED)


@cache
def _load_shared() -> None:
    for family in _SHARED_FAMILIES:
        loaded(f"torch2mlir.conversion.{family}")


def lowering(name: str, target: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Registers the user's own lowering of an op, ``@torch2mlir.lowering("mylib::op", "stablehlo")``.

    An op with a lowering is kept whole on the way to the backend contract for that target. See :func:`lowers` for
    what the function gets and returns.
    """
    _OWN[get_target(target).name].add(OpName.of(name))
    return lowers(target, name)


_OWN = defaultdict[str, set[str]](set)


def own_ops(target: str) -> frozenset[str]:
    """The ops the user has registered lowerings for, and those that the target keeps whole."""
    found = set[str]()
    for each in get_target(target).family:
        found |= _OWN[each.name] | each.kept_ops
    return frozenset(found)
