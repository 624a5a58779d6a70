"""A program's symbols as PyTorch has them: each with an example size, such that what is known of the sizes holds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import sympy
import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from xdsl.ir import Attribute

from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import INT64_MAX, Dim, KnownSize, substitute
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx import symbols
from torch2mlir.frontends.fx.decisions import known
from torch2mlir.program import Decision
from torch2mlir.transforms.semantics.equal_products import Factors, factors_of, failing
from torch2mlir.transforms.semantics.examples import (
    LARGE,
    ONES,
    SMALL,
    ZEROS,
    Multiple,
    broken,
    divides,
    large,
    multiples_of,
    order_of,
    suitable,
)
from torch2mlir.transforms.semantics.facts import Facts


def simplified(size: Any) -> Any:
    """The expression of a symbolic number, by what its own world knows."""
    return size.node.shape_env.simplify(size.node.expr)


class ExampleWorld:
    """Fake tensors over one program's symbols, each of which has an example size.

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
        self._factors: Mapping[str, Factors] = {}
        self._examples = dict(examples or {})
        self._make_products_equal()
        self._names: dict[sympy.Symbol, KnownSize] = {}
        self.learned: list[str] = []
        """The symbols that ops with results of unknown size were given when they were traced."""
        self._before = 0
        self.forget()

    def forget(self) -> None:
        """Forgets what was asked: an answer to one op is no fact for the next."""
        self.shape_env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=self.shape_env, allow_non_fake_inputs=True)
        self.mode.cache_enabled = False  # each distinct call is run once: keeping it costs as much
        self._symbols: dict[str, sympy.Symbol] = {}

    def _range(self, name: str) -> tuple[int, int]:
        low, high = self._ranges.get(name, (0, INT64_MAX))
        return max(low, 2) if name in self.given else low, high

    def _example(self, name: str) -> int:
        name = self.facts.same.get(name, name)
        if name not in self._examples:
            self._examples[name] = self._new_example(name)
        return self._examples[name]

    def _make_products_equal(self) -> None:
        """Takes examples for which products are equal that are known to be, if more of what is known holds then."""
        if not (factors := factors_of(self._decisions)):
            return
        names = {name for decision in self._decisions for name in decision.symbols}
        before = dict(self._examples)

        def left() -> int:
            self._examples = dict(before)
            return failing({name: self._example(name) for name in names}, self._decisions)

        without, self._factors = left(), factors
        if left() >= without:
            self._factors = {}
        self._examples = before

    def _new_example(self, name: str) -> int:
        if name not in self._order:
            self._order.append(name)
        low, high = self._range(name)
        if name in self._factors:
            return max(low, min(high, self._factors[name].example(self._hints)))
        if self._is_tiny and name not in self.given:
            return min(max(low, self._hints[0]), high)
        hints = SMALL if self._is_tiny else self._hints
        number = self._order.index(name) % len(hints)
        hint = self._given.get(name) or hints[number]
        hint = max(low, 2) + hint if hint < low or hints is SMALL else hint
        multiple = self._multiples.get(name, Multiple()).value(self._example)
        hint *= multiple
        if hint > high:
            # not the largest of several, nor of one that what is left of it would be 1, and the examples of symbols
            # with equal ranges differ
            from_end = (high - low > 2) + (high - low > 4 and name not in self.given)
            hint = (high // multiple - number - from_end) * multiple
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
        return symbols.to_dim(simplified(size), self._names)

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
        expression = simplified(size)
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
        self._make_products_equal()
        self.forget()

    def _breaks(self, needs: Sequence[Decision]) -> bool:
        """Whether something does not hold for the examples."""
        sizes = {name: self._example(name) for need in needs for name in need.symbols}
        return not all(need.holds(sizes) for need in needs)

    def assumptions(self) -> Hashable:
        """All that is known of the sizes, for which alone holds what is found out in this world."""
        decisions = (*known(), *self._decisions)
        return (
            tuple(self._ranges.items()),
            tuple(self.given),
            tuple(self.facts.same.items()),
            frozenset((each.asked, each.answer, each.of_model) for each in decisions),
        )

    def _order_before_trace(self) -> tuple[str, ...]:
        """The symbols that there were before the last trace."""
        return tuple(name for name in self._order if name not in self.learned[self._before :])

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

    @contextmanager
    def _without_bounds(self) -> Iterator[bool]:
        """While it lasts, sizes that elements decide have no low bound: half of a small size is soon 1.

        Yields:
            Whether what was asked last is about one that has.
        """
        names, ranges = self.names(), self._ranges
        asked = {names.get(s) for guard in self.shape_env.guards for s in guard.expr.free_symbols}
        small = {n for n in ranges if n in asked and n not in self.given and self._is_small(n)}
        if not small:
            yield False
            return
        examples, decisions = dict(self._examples), self._decisions
        self._ranges = {**ranges, **{name: (ranges[name][0], INT64_MAX) for name in small}}
        self._decisions = tuple(
            each for each in decisions if small.isdisjoint(each.symbols) or divides(each)
        )
        self._examples.clear()
        self.forget()
        try:
            yield True
        finally:
            self._ranges, self._examples, self._decisions = ranges, examples, decisions
            self.forget()

    def _is_small(self, name: str) -> bool:
        return self._range(name)[1] < LARGE[0]

    def _largest(self, name: str) -> Sequence[int]:
        """The largest sizes of a symbol with a low bound; the example of another one."""
        if not self._is_small(name):
            return (self._example(name),)
        low, high = self._range(name)
        about = [each for each in (*known(), *self._decisions) if each.symbols == (name,)]
        sizes = (size for size in range(high, low, -1) if all(d.holds({name: size}) for d in about))
        return (*islice(sizes, 3),) or (self._example(name),)

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
