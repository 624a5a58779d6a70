"""PyTorch's own semantics on the dialect's types: fake tensors with the program's symbols, traced op by op."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, product
from typing import Any, TypeVar

import sympy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx._lazy_graph_module import _use_lazy_graph_module
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils import _pytree as pytree
from xdsl.ir import Attribute, Operation

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, substitute
from torch2mlir.dialects.torch.symbols import INT64_MAX
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx import symbols
from torch2mlir.frontends.fx.decisions import is_about_layouts, known
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.examples import (
    LARGE,
    MEDIUM,
    ONES,
    SMALL,
    ZEROS,
    Multiple,
    broken,
    large,
    multiples_of,
    order_of,
    suitable,
)
from torch2mlir.transforms.semantics.facts import Facts, facts_of
from torch2mlir.transforms.semantics.symbols import symbol_ranges

Found = TypeVar("Found")
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_SIZES = (
    torch.ops.aten.sym_size.int,
    torch.ops.aten.sym_stride.int,
    torch.ops.aten.sym_numel.default,
    torch.ops.aten.sym_storage_offset.default,
)
_COMBINATIONS = 100
"""How many combinations of the largest sizes are tried, for one in which a question has another answer."""


def _is_step(node: Node) -> bool:
    """Whether a node has to do with elements, not with sizes alone."""
    if node.op == "get_attr" or isinstance(node.meta.get("val"), torch.Tensor):
        return True
    return not (
        node.op == "placeholder"
        or node.target in _SIZES
        or all(map(_is_size, node.all_input_nodes))
    )


def _is_size(node: Node) -> bool:
    return isinstance(node.meta.get("val"), (int, float, *_SYMBOLIC))


def _simplified(size: Any) -> Any:
    """The expression of a symbolic number, by what its own world knows."""
    return size.node.shape_env.simplify(size.node.expr)


def _holds(question: Any, examples: Mapping[Any, int]) -> bool:
    """Whether a question has the same answer for some examples, or none."""
    try:
        return bool(question.subs(examples) != sympy.false)
    except ZeroDivisionError:
        return True


def _said_by(node: Node) -> list[Any]:
    """What a node says: its op, its operands and the shapes of its results."""
    results = pytree.tree_leaves(node.meta.get("val"))
    shapes = [size for each in results if isinstance(each, torch.Tensor) for size in each.shape]
    return [node.op, str(node.target), *pytree.tree_leaves((node.args, node.kwargs)), *shapes]


class FakeWorld:
    """Fake tensors over one program's symbols.

    Example sizes are such that what is known of the program's sizes holds.

    Args:
        ranges: smallest and largest value of each symbol of the arguments.
        hints: example sizes.
        order: of the symbols, the first of which has the first of the hints; by what is known if not given.
        facts: what the program asserts of sizes that elements decide.
        needs: what the op needs of sizes that is looked at.
        examples: sizes of some symbols that are given, whatever the hints.
    """

    def __init__(
        self,
        ranges: Mapping[str, tuple[int, int]],
        hints: Sequence[int] = LARGE,
        order: Sequence[str] | None = None,
        facts: Facts | None = None,
        needs: Sequence[Decision] = (),
        examples: Mapping[str, int] | None = None,
    ) -> None:
        self._hints, self.facts = hints, facts or Facts()
        self._is_tiny = hints in (ZEROS, ONES)
        self.given, ranges = ranges, {**self.facts.ranges, **ranges}
        self._decisions = (*known(), *self.facts.decisions, *needs)
        self._order = list(order_of(tuple(ranges), self._decisions) if order is None else order)
        self._multiples = multiples_of(tuple(self._order), self._decisions)
        self._ranges = ranges
        self._given = dict[str, int]()
        self._examples = dict(examples or {})
        self._names: dict[sympy.Symbol, KnownSize] = {}
        self.learned: list[str] = []
        """The symbols that ops with results of unknown size were given when they were traced."""
        self.unexplored: list[Any] = []
        """What the last run asked about elements and sizes, if every world that it was compared with says the same."""
        self._before = 0
        self.asked = ""
        self.forget()

    @staticmethod
    def of(module: Operation) -> FakeWorld:
        """The world of a module's symbols."""
        return FakeWorld(symbol_ranges(module), facts=facts_of(module))

    def forget(self) -> None:
        """Forgets what was asked: an answer to one op is no fact for the next."""
        self.shape_env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.shape_env, allow_non_fake_inputs=True)
        self._symbols: dict[str, sympy.Symbol] = {}

    def _range(self, name: str) -> tuple[int, int]:
        low, high = self._ranges.get(name, (0, INT64_MAX))
        return max(low, 2) if name in self.given else low, high

    def _example(self, name: str) -> int:
        name = self.facts.same.get(name, name)
        if name not in self._examples:
            self._examples[name] = self._new_example(name)
        return self._examples[name]

    def _new_example(self, name: str) -> int:
        if name not in self._order:
            self._order.append(name)
        low, high = self._range(name)
        if self._is_tiny and name not in self.given:
            return min(max(low, self._hints[0]), high)
        hints = SMALL if self._is_tiny else self._hints
        number = self._order.index(name) % len(hints)
        hint = self._given.get(name) or hints[number]
        hint = max(low, 2) + hint if hint < low or hints is SMALL else hint
        multiple = self._multiples.get(name, Multiple()).value(self._example)
        hint *= multiple
        if (
            hint > high
        ):  # not the largest one of several, and the examples of symbols with equal ranges differ
            hint = (high // multiple - number - (high - low > 2)) * multiple
        return suitable(name, max(low, min(2, high), hint), low, self._decisions)

    def _symbol(self, name: str) -> sympy.Symbol:
        name = self.facts.same.get(name, name)
        known = self._symbols.get(name)
        if known is None:
            low, high = self._range(name)
            known = self._new_symbol(name)
            if high >= low:
                self.shape_env.constrain_symbol_range(
                    known, compiler_min=low, compiler_max=min(high, INT64_MAX - 1)
                )
            self._symbols[name] = known
        return known

    def _new_symbol(self, name: str) -> sympy.Symbol:
        """A symbol that has stood for nothing else, since graphs of earlier traces are still to be read.

        PyTorch numbers symbols by a hash of what they are from, and by the order in which those of one hash come.
        """
        stands_for, source = Dim("symbol", (name,)), f"__{name}"
        while True:
            made = self.shape_env.create_symbol(
                self._example(name),
                ConstantSource(source),
                dynamic_dim=DimDynamic.DYNAMIC,
                constraint_dim=None,
                positive=True if name in self.given else None,
                do_not_specialize_zero_one=name not in self.given,
            )
            if not made.is_Symbol or self._names.setdefault(made, stands_for) == stands_for:
                return made
            source += "_"

    def names(self) -> dict[sympy.Symbol, str]:
        """What PyTorch's symbols are called in the program."""
        return {s: dim.name for s, dim in self._names.items() if isinstance(dim, Dim)}

    def integer(self, size: KnownSize) -> int | torch.SymInt:
        """A size as PyTorch sees it."""
        if isinstance(size, int):
            return size
        names = {name: self._symbol(name) for name in size.symbols()}
        expression = symbols.to_sympy(size, names)
        if isinstance(expression, sympy.Integer):
            return int(expression)
        hints = {s: self.shape_env.backed_var_to_val[s] for s in names.values()}
        hint = int(expression.subs(hints))
        return self.shape_env.create_symintnode(expression, hint=hint)

    def size_of(self, size: int | torch.SymInt) -> KnownSize:
        """The dimension of an entry of a fake tensor's shape."""
        if isinstance(size, int):
            return size
        return symbols.to_dim(_simplified(size), self._names)

    def unknown(self, type: Attribute) -> Any:
        """A number of a Python type that is only known when the program runs; None of other types."""
        makers: dict[Attribute, Callable[[], Any]] = {
            t.int_type: self.shape_env.create_unbacked_symint,
            t.float_type: self.shape_env.create_unbacked_symfloat,
            t.bool_type: self.shape_env.create_unbacked_symbool,
        }
        make = makers.get(type)
        with self.shape_env.ignore_fresh_unbacked_symbols():  # it is given, no op makes it
            return None if make is None else make()

    def known_size_of(self, size: int | torch.SymInt) -> KnownSize | None:
        """The dimension of an entry of a fake tensor's shape; None if the program's symbols do not give it."""
        if isinstance(size, int):
            return size
        expression = _simplified(size)
        known = all(symbol in self._names for symbol in expression.free_symbols)
        return symbols.to_dim(expression, self._names) if known else None

    def tensor(self, type: t.AnyTensorType) -> torch.Tensor:
        """A fake tensor of a ranked type of known dtype."""
        if type.sizes is None or type.dtype is None or None in type.sizes:
            raise BackendContractError(
                f"{type} has no known rank, sizes or dtype",
                hint="give the function's arguments full types, or run torch-refine-types first",
            )
        with self.mode:
            sizes = [self.integer(size) for size in type.sizes]  # type: ignore[arg-type]
            try:
                return torch.empty(sizes, dtype=dtypes.FROM_ELEMENT_TYPE[type.dtype])
            except RuntimeError as error:
                raise BackendContractError(
                    f"there is no tensor of these sizes: {error}",
                    hint="check the program for such a call",
                ) from error

    def at_examples(self, type: Attribute | None) -> list[KnownSize | None] | None:
        """The sizes of a type, its symbols replaced by their examples; None for what is not a tensor of known rank."""
        if not isinstance(type, t.ValueTensorType) or type.sizes is None:
            return None
        names = {n for size in type.sizes if isinstance(size, Dim) for n in size.symbols()}
        examples = {name: self._example(name) for name in names}
        return [None if size is None else substitute(size, examples) for size in type.sizes]

    def suit(self, needs: Sequence[Decision]) -> None:
        """Takes other examples if an op has not what it needs for those there are."""
        if not needs or not self._breaks(needs):
            return
        self._decisions = (*self._decisions, *needs)
        self._order = list(order_of(tuple(self._order), self._decisions))
        self._multiples = multiples_of(tuple(self._order), self._decisions)
        self._examples.clear()
        self.forget()

    def _breaks(self, needs: Sequence[Decision]) -> bool:
        """Whether something does not hold for the examples."""
        sizes = {name: self._example(name) for need in needs for name in need.symbols}
        return not all(need.holds(sizes) for need in needs)

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
        if not self._put_asked_first():
            return None
        del self.learned[before:]
        found = run()
        return found if self.compare(partial(same, found), needs(found)) else None

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
        self.asked = ", ".join(map(str, asked))
        if self.shape_env.replacements:
            return False
        left = list(self.shape_env.guards)
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
                return False
            examples = {symbol: other._example(name) for name, symbol in self._symbols.items()}
            left[:] = [guard for guard in left if _holds(guard.expr, examples)]
        questions = (guard.expr for guard in left if not is_about_layouts(guard))
        self.unexplored = [each for each in questions if not self._is_of_few_elements(each)]
        self.forget()
        return True

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
            if is_rule or guard not in left or not all(names[s] in self.given for s in asked):
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

    def _order_before_trace(self) -> tuple[str, ...]:
        """The symbols that there were before the last trace."""
        return tuple(name for name in self._order if name not in self.learned[self._before :])

    def _largest(self, name: str) -> Sequence[int]:
        """The largest sizes of a symbol with a low bound; the example of another one."""
        low, high = self._range(name)
        example = self._example(name)
        return range(high, max(low, high - 3), -1) if high < LARGE[0] else (example,)

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

    def _put_asked_first(self) -> bool:
        """Takes other examples, where that helps: of symbols with few sizes the last have small or equal ones."""
        names = self.names()
        asked = {names.get(s) for guard in self.shape_env.guards for s in guard.expr.free_symbols}
        order = sorted(self._order, key=lambda name: name not in asked)
        if order == self._order or broken(large(order), self._decisions):
            return False
        self._order = order
        self._multiples = multiples_of(tuple(order), self._decisions)
        self._examples.clear()
        self.forget()
        return True

    def _agrees(self, graph: GraphModule, other: FakeWorld, again: GraphModule) -> bool:
        """Whether a graph is that of another world, at that world's examples.

        Numbers are compared by what they are at the examples: the other world may have taken an example for a constant.
        """
        examples = {
            self._symbols[name]: int(other.shape_env.backed_var_to_val[symbol])
            for name, symbol in other._symbols.items()
            if name in self._symbols
        }

        def same(one: Any, found: Any) -> bool:
            if isinstance(one, Node) and one in twins:
                return twins[one] is found
            one, found = (x.meta.get("val") if isinstance(x, Node) else x for x in (one, found))
            if isinstance(one, _SYMBOLIC):
                one = _simplified(one).subs(examples)
                if one.free_symbols:  # elements decide it
                    return True
            if isinstance(found, _SYMBOLIC):
                found = found.node.hint
            return bool(one == found or (one != one and found != found))

        steps = [[node for node in each.graph.nodes if _is_step(node)] for each in (graph, again)]
        twins: dict[Node, Node] = dict(zip(*steps, strict=False))
        if len(steps[0]) != len(steps[1]):
            return False
        for node, twin in twins.items():
            ours, theirs = (_said_by(each) for each in (node, twin))
            if len(ours) != len(theirs) or not all(map(same, ours, theirs)):
                return False
        return True

    def _trace(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        table: dict[Any, Callable[..., Any]],
    ) -> GraphModule:
        with (
            self.mode,
            self.sizes_from_data("d"),
            torch.no_grad(),
            enable_python_dispatcher(),
            _use_lazy_graph_module(True),  # it is read and never called: no Python code
        ):
            return make_fx(function, decomposition_table=table, tracing_mode="real")(*arguments)

    @contextmanager
    def sizes_from_data(
        self, prefix: str, example: int | None = None, known: str | None = None
    ) -> Iterator[None]:
        """Sizes that depend on elements are symbols with examples, as all others.

        Args:
            prefix: what their names start with.
            example: their size, by default one of the usual examples.
            known: the name of the one that there is, if it is a size that an earlier op has found.
        """

        def fresh() -> torch.SymInt | int:
            if known is not None:
                return self.integer(Dim("symbol", (known,)))
            name = f"{prefix}{len(self.learned)}"
            while name in self._order or name in self._ranges:
                name += "_"
            self.learned.append(name)
            if example is not None:
                self._given[name] = example
            self._examples.pop(name, None)
            return self.integer(Dim("symbol", (name,)))

        self._before = len(self.learned)
        self.shape_env.create_unbacked_symint = fresh  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            del self.shape_env.create_unbacked_symint

    def run(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """What a function gives on fake tensors."""
        with self.mode, torch.no_grad(), enable_python_dispatcher():
            return function(*arguments)
