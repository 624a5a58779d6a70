"""PyTorch's own semantics on the dialect's types: ops traced on fake tensors, for several examples of their sizes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, product
from typing import Any, TypeVar

import sympy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.fx import GraphModule
from torch.fx._lazy_graph_module import _use_lazy_graph_module
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._sympy.functions import Mod, PythonMod
from xdsl.ir import Operation

from torch2mlir.errors import BackendContractError
from torch2mlir.frontends.fx.decisions import is_about_layouts, known
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.example_world import ExampleWorld
from torch2mlir.transforms.semantics.examples import LARGE, MEDIUM, ONES, SMALL, ZEROS, broken
from torch2mlir.transforms.semantics.facts import facts_of
from torch2mlir.transforms.semantics.same_graphs import are_same
from torch2mlir.transforms.semantics.symbols import symbol_ranges

Found = TypeVar("Found")
_SHOWN = 3
"""How many questions an error shows."""
_COMBINATIONS = 100
"""How many combinations of the largest sizes are tried, for one in which a question has another answer."""


def _holds(question: Any, examples: Mapping[Any, int]) -> bool:
    """Whether a question has the same answer for some examples, or none."""
    try:
        return bool(question.subs(examples) != sympy.false)
    except ZeroDivisionError:
        return True


@contextmanager
def rejections_unlogged() -> Iterator[None]:
    """While it lasts, PyTorch does not write that an op rejects its fake operands: it is reported, or is none."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    was_disabled, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = was_disabled


class FakeWorld(ExampleWorld):
    """A world of examples in which functions are run and traced, and what comes of it is compared with other worlds'.

    Attributes:
        asked: what PyTorch asked about sizes when the last function was run.
        unexplored: what of it is about elements, if every world that it was compared with says the same.
    """

    asked = ""
    unexplored: Sequence[Any] = ()

    @staticmethod
    def of(module: Operation) -> FakeWorld:
        """The world of a module's symbols."""
        return FakeWorld(symbol_ranges(module), facts=facts_of(module))

    def compared(
        self,
        run: Callable[[], Found],
        same: Callable[[Found, FakeWorld], bool],
        needs: Callable[[Found], Sequence[Decision]],
    ) -> Found | None:
        """What comes of the examples, if it comes of others too; None if not.

        Args:
            run: what is done with the examples.
            same: whether the same comes of those of another world.
            needs: what the op needs of sizes; see :meth:`compare`.
        """
        before, found = len(self.learned), run()
        if self.compare(partial(same, found), needs(found)):
            return found
        if self._put_asked_first():
            del self.learned[before:]
            found = run()
            if self.compare(partial(same, found), needs(found)):
                return found
        with self._without_bounds() as has_others:
            if has_others:
                del self.learned[before:]
                try:
                    found = run()
                except BackendContractError:  # of sizes that there are not, as 6 - n of any n
                    return None
                if self.compare(partial(same, found), needs(found)):
                    return found
        return None

    def compare(self, same: Callable[[FakeWorld], bool], needs: Sequence[Decision] = ()) -> bool:
        """Whether what came of the examples comes of others too, if PyTorch asked how large they are.

        Args:
            same: whether it does in another world.
            needs: what the op needs of sizes; where that is not so, it may be another one.
        """
        asked = [guard.expr for guard in self.shape_env.guards]
        self.unexplored = []
        if not asked and not self.shape_env.replacements:
            return True
        rest = f" and {len(asked) - _SHOWN} more" if len(asked) > _SHOWN else ""
        self.asked = ", ".join(map(_shown, asked[:_SHOWN])) + rest
        if self.shape_env.replacements:
            return False
        left, exceptions = list(self.shape_env.guards), list[Any]()
        for other in chain(self._others(asked, needs), self._of_largest_sizes(left, needs)):
            if other._breaks(needs):
                continue
            try:
                agrees = same(other)
            except Exception:  # PyTorch refuses such a size, or takes it for another program
                agrees = False
                if not other._is_tiny:
                    raise
            if not agrees:
                if other._is_tiny:
                    continue
                if found := self._exceptions(left, other):
                    exceptions += found
                    continue
                return False
            examples = self._examples_in(other)
            left[:] = [g for g in left if g in exceptions or _holds(g.expr, examples)]
        if any(map(self._fixes_elements, left)):
            return False
        questions = (guard.expr for guard in left if not is_about_layouts(guard))
        self.unexplored = [each for each in questions if not self._is_of_few_elements(each)]
        self.forget()
        return True

    def _examples_in(self, other: FakeWorld) -> dict[Any, int]:
        return {symbol: other._example(name) for name, symbol in self._symbols.items()}

    def _exceptions(self, left: Sequence[Any], other: FakeWorld) -> list[Any]:
        """The questions to which another world has other answers, if in all of them a size is 1 by its sizes.

        What is made of several rows is another program for a single one, as ``(n + 3) // 4`` chunks of a few elements
        are: calls are asked whether it is one.
        """
        names, examples = self.names(), self._examples_in(other)
        found = [guard for guard in left if not _holds(guard.expr, examples)]
        for asked in (guard.expr for guard in found):
            given = all(names.get(symbol) in self.given for symbol in asked.free_symbols)
            if not (isinstance(asked, sympy.Ne) and 1 in asked.args and given):
                return []
        return found

    def _others(self, asked: Sequence[Any], needs: Sequence[Decision]) -> Iterator[FakeWorld]:
        """Worlds with the same symbols and other example sizes; in other orders too, where nothing says which it is.

        Args:
            asked: the questions; each symbol in them is the smallest once.
            needs: see :meth:`compare`.
        """
        order = self._order_before_trace()
        orders: list[tuple[Sequence[int], tuple[str, ...]]] = [(MEDIUM, order), (SMALL, order)]
        names = self.names()
        found = [names[s] for each in asked for s in each.free_symbols if s in names]
        later = (name for name in dict.fromkeys(found) if name in order[1:])
        orders.append((LARGE, order[::-1]))
        if not set(found) <= self.given.keys():
            orders += [(ZEROS, order), (ONES, order)]
        for first in islice(later, 3):
            orders.append((SMALL, (first, *(name for name in order if name != first))))
        for hints, other in orders:
            world = FakeWorld(self.given, hints, other, self.facts, needs)
            examples = {name: world._example(name) for name in other}
            if other == order or not broken(examples, (*known(), *self.facts.decisions)):
                yield world

    def _of_largest_sizes(
        self, left: Sequence[Any], needs: Sequence[Decision]
    ) -> Iterator[FakeWorld]:
        """Worlds of the largest sizes there are, for questions that have had one answer in all others.

        Sizes with low bounds are small in all other worlds, where PyTorch takes ``n // 2`` for 1. Questions about
        layouts count: values have none, but what PyTorch has been told of a size it goes on with.
        """
        names, order = self.names(), self._order_before_trace()
        for guard in list(left):
            asked = [s for s in guard.expr.free_symbols if s in names]
            is_rule = isinstance(guard.expr, sympy.Ne)  # the other answer is an exception to it
            if is_rule or guard not in left:
                continue
            largest = [self._largest(names[s]) for s in asked]
            for sizes in islice(product(*largest), _COMBINATIONS):
                if _holds(guard.expr, dict(zip(asked, sizes, strict=True))):
                    continue
                examples = {name: self._example(name) for name in order}
                examples |= {names[s]: size for s, size in zip(asked, sizes, strict=True)}
                if not broken(examples, (*known(), *self.facts.decisions)):
                    yield FakeWorld(self.given, LARGE, order, self.facts, needs, examples)
                    break

    def _fixes_elements(self, guard: Any) -> bool:
        """Whether PyTorch, on its way to a layout, has taken a size that elements decide for a number."""
        names = self.names()
        asked = guard.expr
        is_number = isinstance(asked, sympy.Eq) and any(x.is_number for x in asked.args)
        if not is_number or asked.has(Mod, PythonMod) or not is_about_layouts(guard):
            return False
        return any(names.get(s) not in self.given for s in guard.expr.free_symbols)

    def _is_of_few_elements(self, question: Any) -> bool:
        """Whether it tells sizes of 0 and 1 that elements decide from others, for which decompositions are traced."""
        names = self.names()
        own = {s for s in question.free_symbols if names.get(s) not in self.given}
        rest = {s: self._example(names[s]) for s in question.free_symbols - own if s in names}
        tried = (
            {**rest, **dict.fromkeys(own, size)} for size in (2, 3, *SMALL[1:], *MEDIUM, *LARGE)
        )
        return bool(own) and all(_holds(question, examples) for examples in tried)

    def trace(
        self,
        function: Callable[..., Any],
        arguments: Callable[[FakeWorld], Sequence[Any]],
        table: dict[Any, Callable[..., Any]],
        needs: Sequence[Decision] = (),
    ) -> GraphModule:
        """The ATen graph of a function of fake tensors and symbolic integers.

        PyTorch may have asked how large the example sizes are. Then the function is traced again on other examples,
        and the graphs must be the same: a choice that only holds for some sizes is no program.

        Args:
            function: of fake tensors.
            arguments: of it, in a world.
            table: decompositions.
            needs: see :meth:`compare`.

        Raises:
            BackendContractError: the graph depends on the examples.
        """

        def run() -> GraphModule:
            return self._trace(function, arguments(self), table)

        def same(graph_module: GraphModule, other: FakeWorld) -> bool:
            again = other._trace(function, arguments(other), table)
            return self._agrees(graph_module, other, again)

        found = self.compared(run, same, lambda _: needs)
        if found is None:
            raise BackendContractError(
                f"what this op does depends on its sizes ({self.asked})",
                hint="make the sizes it depends on static, or bound them with torch._check",
            )
        return found

    def _agrees(self, graph: GraphModule, other: FakeWorld, again: GraphModule) -> bool:
        """Whether a graph is that of another world, at that world's examples."""
        examples = {
            self._symbols[name]: int(other.shape_env.backed_var_to_val[symbol])
            for name, symbol in other._symbols.items()
            if name in self._symbols
        }
        return are_same(graph, again, examples)

    def _trace(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        table: dict[Any, Callable[..., Any]],
    ) -> GraphModule:
        with (
            self.mode,
            self.sizes_from_data("d"),
            rejections_unlogged(),
            torch.no_grad(),
            enable_python_dispatcher(),
            _use_lazy_graph_module(True),  # it is read and never called: no Python code
        ):
            return make_fx(function, decomposition_table=table, tracing_mode="real")(*arguments)

    def run(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """What a function gives on fake tensors."""
        with self.mode, torch.no_grad(), enable_python_dispatcher():
            return function(*arguments)


def _shown(question: Any) -> str:
    """A question as a user reads it, to whom examples say nothing: that of the number which a size is has one."""
    if isinstance(question, sympy.Eq):
        numbers = [each for each in question.args if each.is_number]
        others = [each for each in question.args if not each.is_number]
        if len(numbers) == 1 and int(numbers[0]) >= LARGE[0]:
            return f"which number {others[0]} is"
    return str(question)
