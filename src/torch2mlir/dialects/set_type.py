"""Changing the type of a value in place."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue


def set_type(value: SSAValue, type: Attribute) -> None:
    """Gives a value another type; whoever holds the value keeps it.

    xDSL's public way, ``Rewriter.replace_value_with_new_type``, makes a new value and moves the uses to it: tables from
    values to what is known of them, which refinement works with, would forget it.
    """
    value._type = type  # pyright: ignore[reportPrivateUsage]
