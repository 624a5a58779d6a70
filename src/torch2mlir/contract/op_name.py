"""The name of an op, in all of its spellings.

One op is ``aten::add.Tensor`` in a schema, ``aten.add.Tensor`` where people write it, an overload in PyTorch's registry
and ``torch.aten.add.Tensor`` in the dialect. An :class:`OpName` is the last of these, a string, and knows the others.
"""

from __future__ import annotations

from typing import Protocol


class Schema(Protocol):
    """What PyTorch's ``FunctionSchema`` says of the name of an op."""

    @property
    def name(self) -> str: ...
    @property
    def overload_name(self) -> str: ...


class OpName(str):
    """An op's name as the torch dialect spells it: ``torch.aten.add.Tensor``; the default overload has none."""

    __slots__ = ()

    @staticmethod
    def of(spelled: str) -> OpName:
        """The op of any spelling: ``aten::exp``, ``aten.exp``, ``aten.exp.default``, ``torch.aten.exp``."""
        dotted = spelled.replace("::", ".").removesuffix(".default")
        return OpName(dotted if dotted.startswith("torch.") else f"torch.{dotted}")

    @staticmethod
    def of_schema(schema: Schema) -> OpName:
        """The op of a schema of PyTorch's registry."""
        return OpName.of(f"{schema.name}.{schema.overload_name}".removesuffix("."))

    @property
    def parts(self) -> tuple[str, str, str]:
        """``("aten", "add", "Tensor")``: the library, the name in it, and the overload, as PyTorch has them."""
        _, namespace, base, *overload = self.split(".")
        return namespace, base, ".".join(overload) or "default"

    @property
    def base(self) -> str:
        """The name without namespace and overload: ``add``."""
        return self.split(".")[2]

    @property
    def packet(self) -> OpName:
        """The name without overload: ``torch.aten.add``."""
        return OpName(".".join(self.split(".")[:3]))

    @property
    def dotted(self) -> str:
        """As people write it: ``aten.add.Tensor``."""
        return self.removeprefix("torch.")

    @property
    def qualified(self) -> str:
        """As schemas write it: ``aten::add.Tensor``."""
        return self.dotted.replace(".", "::", 1)
