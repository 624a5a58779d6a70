"""What a target is: all that the one pipeline has to know of a dialect, and the registry that finds it by name.

A dialect of your own is a :class:`Target` and the lowerings of its words, in your own file:

    torch2mlir.register_target(Target("accel", lowering=AccelLowering, base="linalg-on-tensors"))

    @torch2mlir.lowering("aten.mm", "accel")
    def mm(lower, x, y): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from torch2mlir.dialects.printer import WeightSyntax
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.loading import loaded

BEFORE_TARGETS = ("raw", "torch")
"""The output types that are no targets: the captured graph, and the backend contract."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A dialect that programs are lowered to.

    Attributes:
        name: what ``output_type`` calls it.
        lowering: its class of :class:`~torch2mlir.conversion.lowering.Lowering`, or the package whose import registers
            the lowerings and which has the class as ``LOWERING``.
        base: another target, whose lowerings are taken for ops that this one has none for; its class is taken too
            where ``lowering`` is not given.
        preparation: pipeline names of passes over the backend contract that come before the conversion.
        finishing: pipeline names of passes over the converted module.
        weight_syntax: how weights stand in its text.
        generic: whether its text is in MLIR's generic form unless asked for otherwise.
        default_engine: who runs it unless told otherwise; without one it is only written.
        kept_ops: ops that are not core and reach its lowerings whole.
        aliases: other names that people give it.
        sizes_from_data: whether a size may depend on the elements of a tensor.
    """

    name: str
    lowering: str | type[Any] = ""
    base: str | None = None
    preparation: tuple[str, ...] = ()
    finishing: tuple[str, ...] = ()
    weight_syntax: WeightSyntax = WeightSyntax.RESOURCE
    generic: bool = False
    default_engine: str | None = None
    kept_ops: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    sizes_from_data: bool = True

    @property
    def lowering_class(self) -> type[Any]:
        """The class of the context its lowerings get."""
        if not self.lowering and self.base is not None:
            return get_target(self.base).lowering_class
        if isinstance(self.lowering, str):
            return _class_of(self.lowering)
        return self.lowering

    @property
    def family(self) -> Iterator[Target]:
        """The target, what it is based on, and so on."""
        target = self
        while target.base is not None:
            yield target
            target = get_target(target.base)
        yield target


_LOWERING_HINT = "a target's lowering= is a Lowering class, or a package that has one as LOWERING and can be imported"


@cache
def _class_of(package: str) -> type[Any]:
    try:
        found: type[Any] = loaded(package).LOWERING
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise Torch2MLIRError(
            f"the package of lowerings '{package}' cannot be imported: {error}", hint=_LOWERING_HINT
        ) from error
    except AttributeError as error:
        if error.name != "LOWERING":
            raise
        raise Torch2MLIRError(f"'{package}' has no LOWERING", hint=_LOWERING_HINT) from error
    return found


_TARGETS: dict[str, Target] = {}
_OWN_NAMES: dict[str, str] = {}
"""Names and aliases of the targets below -> their names."""


def register_target(target: Target) -> Target:
    """Makes a dialect available as ``output_type=target.name``, on the command line too; returns it.

    Raises:
        Torch2MLIRError: its base is not registered, it has neither lowerings nor a base, or its name is taken by a
            stage before the targets, or by a target or an alias that is there from the start.
    """
    if target.name in BEFORE_TARGETS:
        raise Torch2MLIRError(f"'{target.name}' is what programs are before they reach a target")
    for name in (target.name, *target.aliases):
        if (owner := _OWN_NAMES.get(name)) is not None:
            raise Torch2MLIRError(
                f"'{name}' is the name of a target of torch2mlir's own, {owner}",
                hint=f'give yours another name; base="{owner}" makes it the same but for what you say',
            )
    if target.base is not None:
        get_target(target.base)
    elif not target.lowering:
        raise Torch2MLIRError(
            f"target '{target.name}' has no lowerings",
            hint="give it lowering=, a Lowering class or a package, or base=, the name of another target",
        )
    _TARGETS[target.name] = target
    return target


def unregister_target(name: str) -> None:
    """Forgets a target; nothing happens if there is none of this name."""
    _TARGETS.pop(name, None)


def target_names() -> tuple[str, ...]:
    """The targets, in the order of their registration."""
    return tuple(_TARGETS)


def lowered_targets() -> tuple[str, ...]:
    """The targets with lowerings for all core ops, rather than another target's."""
    return tuple(name for name, target in _TARGETS.items() if target.base is None)


def output_types() -> tuple[str, ...]:
    """What a program can be lowered to: ``raw`` is the captured graph, ``torch`` the backend contract."""
    return (*BEFORE_TARGETS, *_TARGETS)


def get_target(name: object) -> Target:
    """The target of a name, an alias or an enum member; any case, with dashes or underscores.

    Raises:
        Torch2MLIRError: no such target.
    """
    if isinstance(name, Target):
        return name
    canonical = name if isinstance(name, str) and name in _TARGETS else _canonical(name)
    if canonical not in _TARGETS:
        raise Torch2MLIRError(f"unknown target '{name}'", hint=f"use one of {', '.join(_TARGETS)}")
    return _TARGETS[canonical]


def check_output_type(output_type: object) -> str:
    """The output type by its canonical name.

    Raises:
        Torch2MLIRError: there is no such output type.
    """
    if isinstance(output_type, str) and output_type in _TARGETS:
        return output_type
    canonical = _canonical(output_type)
    if canonical not in BEFORE_TARGETS and canonical not in _TARGETS:
        raise Torch2MLIRError(
            f"unknown output_type '{output_type}'", hint=f"use one of {', '.join(output_types())}"
        )
    return canonical


def _canonical(name: object) -> str:
    spelled = str(getattr(name, "value", name))
    if spelled in _TARGETS:
        return spelled
    dashed = spelled.lower().replace("_", "-")
    for target in _TARGETS.values():
        if dashed in target.aliases:
            return target.name
    return dashed


register_target(
    Target(
        name="linalg-on-tensors",
        lowering="torch2mlir.conversion.torch_to_linalg",
        default_engine="iree",
        aliases=("linalg",),
    )
)
register_target(
    Target(
        name="tosa",
        lowering="torch2mlir.conversion.torch_to_tosa",
        preparation=("torch-split-complex-ops",),  # TOSA has no complex numbers
        default_engine="iree",
        sizes_from_data=False,
    )
)
register_target(
    Target(
        name="stablehlo",
        lowering="torch2mlir.conversion.torch_to_stablehlo",
        weight_syntax=WeightSyntax.HEX,  # XLA reads no resources
        kept_ops=frozenset({"torch.aten.topk"}),
        default_engine="xla",
    )
)
register_target(
    Target(
        name="onnx",
        lowering="torch2mlir.conversion.torch_to_onnx",
        # no operator computes with complex numbers
        preparation=("torch-split-complex-ops", "torch-decompose-for-onnx", "torch-share-heads"),
        kept_ops=frozenset(
            {
                "torch.aten._log_softmax",
                "torch.aten._native_batch_norm_legit_no_training",
                "torch.aten._softmax",
                "torch.aten.batch_norm",
                "torch.aten.gelu",
                "torch.aten.group_norm",
                "torch.aten.hardsigmoid",
                "torch.aten.layer_norm",
                "torch.aten.leaky_relu",
                "torch.aten.log_softmax.int",
                "torch.aten.matmul",
                "torch.aten.native_layer_norm",
                "torch.aten.rms_norm",
                "torch.aten.scaled_dot_product_attention",
                "torch.aten.softmax.int",
                "torch.aten.topk",
                "torch.aten.upsample_bilinear2d",
                "torch.aten.upsample_bilinear2d.vec",
                *(
                    f"torch.aten.{kind}{rank}d{overload}"
                    for kind in ("upsample_nearest", "_upsample_nearest_exact")
                    for rank in (1, 2, 3)
                    for overload in ("", ".vec")
                ),
            }
        ),
        default_engine="onnxruntime",
    )
)
for _opset in ("18", "21"):
    register_target(
        Target(
            name=f"onnx-opset{_opset}",
            base="onnx",
            preparation=("torch-split-complex-ops", f"torch-decompose-for-onnx-opset{_opset}"),
        )
    )
register_target(
    Target(
        name="mhlo",
        base="stablehlo",
        finishing=("stablehlo-legalize-to-hlo",),
        weight_syntax=WeightSyntax.HEX,
    )
)
_OWN_NAMES.update(
    {name: target.name for target in _TARGETS.values() for name in (target.name, *target.aliases)}
)
