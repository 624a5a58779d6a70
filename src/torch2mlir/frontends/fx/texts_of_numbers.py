"""Texts among a model's results that PyTorch's tracing has made of a number's name in place of the number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torch.fx import Graph
from torch.utils import _pytree as pytree

from torch2mlir.errors import CaptureError


class TextOfNumber(CaptureError):
    """A result of a model is a text of what no trace knows."""


def check_texts(graph: Graph) -> None:
    """Looks whether constant texts of a graph's output name its symbols: ``f"{x.mean().item()}"`` is ``"zuf0"``.

    Raises:
        TextOfNumber: one does.
    """
    results = pytree.tree_leaves(graph.output_node().args)
    texts = [each for each in results if isinstance(each, str)]
    names = set(_symbols(graph)) if texts else set()
    for text in texts:
        if not names.isdisjoint(re.findall(r"\w+", text)):
            raise TextOfNumber(
                "a result of the model is a text of a number that is another in every call, for which PyTorch's "
                f"trace has its own name: '{text}'",
                hint="return the number and make the text outside; torch2mlir.optimize runs such models in PyTorch",
            )


def _symbols(graph: Graph) -> Iterator[str]:
    """The names of sizes that vary and of numbers that elements decide, also of those that only the text is made of."""
    modes = (getattr(node.meta.get("val"), "fake_mode", None) for node in graph.nodes)
    for environment in {id(mode.shape_env): mode.shape_env for mode in modes if mode}.values():
        if environment is not None:
            yield from map(str, environment.var_to_range)


def is_of_text(error: Exception) -> bool:
    """Whether a capture fails because of such a text: ``f"{x.mean().item():.1f}"`` has a format."""
    return isinstance(error, TextOfNumber) or "format string passed to Sym" in str(error)
