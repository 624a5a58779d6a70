"""The least of a module that still fails: one function of it, of that one operation if it will do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from torch2mlir.dialects.parser import parse_module
from torch2mlir.dialects.printer import MlirPrinter
from torch2mlir.dialects.torch.core import ConstantOp, PrimListConstructOp
from torch2mlir.errors import Torch2MLIRError

Predicate = Callable[[ModuleOp], bool]

SECONDS = 20.0
"""How long to look for something smaller."""
ELIDED = 64
"""Constants of more elements are left out of a reproducer that fails without them too."""


def reduced(module: ModuleOp, fails: Predicate, suspects: Sequence[str] = ()) -> ModuleOp:
    """The smallest module found that fails; ``module`` itself if there is none.

    Args:
        module: fails; it is not changed.
        fails: whether a module fails in the same way; it may change the module it is given.
        suspects: messages that may name the operation that fails, which is tried first.
    """
    deadline = time.monotonic() + SECONDS

    def first(candidates: Iterable[ModuleOp]) -> ModuleOp | None:
        for candidate in candidates:
            if fails(candidate.clone()):
                return candidate
            if time.monotonic() > deadline:
                return None
        return None

    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    smallest = first(_alone(module, each) for each in sorted(functions, key=_size)) or module
    for function in [op for op in smallest.body.block.ops if isinstance(op, FuncOp)]:
        ops = [op for op in function.walk() if op is not function and not _is_plumbing(op)]
        ops.sort(key=lambda op: not any(op.name in text for text in suspects))
        for isolated in (_isolated, _sliced):
            found = first(m for op in ops if (m := isolated(op)) is not None)
            if found is not None:
                return found
    return smallest


def elided_text(module: ModuleOp, fails: Predicate) -> str:
    """The text of a module with locations, without its large constants if it fails without them too."""
    elided = _text(module, ELIDED)
    try:
        if fails(parse_module(elided)):
            return elided
    except Torch2MLIRError:
        pass
    return _text(module, None)


def _text(module: ModuleOp, elide_above: int | None) -> str:
    stream = StringIO()
    printer = MlirPrinter(stream=stream, print_debuginfo=True, elide_above=elide_above)
    printer.print_op(module)
    printer.print_metadata(())
    return stream.getvalue() + "\n"


def _size(op: Operation) -> int:
    return sum(1 for _ in op.walk())


def _is_plumbing(op: Operation) -> bool:
    return isinstance(op, ConstantOp | PrimListConstructOp) or op.has_trait(IsTerminator)


def _alone(module: ModuleOp, function: FuncOp) -> ModuleOp:
    """A module of one function, what it refers to, and everything that is no function."""
    symbols = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    needed, open_ = {function}, [function]
    while open_:
        for name in _references(open_.pop()):
            callee = symbols.get(name)
            if callee is not None and callee not in needed:
                needed.add(callee)
                open_.append(callee)
    kept = [op for op in module.body.block.ops if not isinstance(op, FuncOp) or op in needed]
    return ModuleOp([op.clone() for op in kept], dict(module.attributes))


def _references(function: FuncOp) -> Iterator[str]:
    for op in function.walk():
        for value in (*op.properties.values(), *op.attributes.values()):
            if isinstance(value, SymbolRefAttr):
                yield value.root_reference.data


def _isolated(op: Operation) -> ModuleOp | None:
    """A function of one operation: its operands are arguments, but for constants and lists of them."""
    return _function(op, [op], through=_is_plumbing)


def _sliced(op: Operation) -> ModuleOp | None:
    """A function that returns an operation's results, with everything they are computed from."""
    return _function(op, [op], through=lambda producer: True)


def _function(
    last: Operation, ops: list[Operation], through: Callable[[Operation], bool]
) -> ModuleOp | None:
    """A module of ``ops`` with the producers of their operands that ``through`` takes in."""
    taken, arguments, block = set(ops), list[SSAValue](), last.parent
    open_ = list(ops)
    while open_:
        for operand in _inputs(open_.pop()):
            producer = operand.owner
            if isinstance(producer, Operation) and producer.parent is block and through(producer):
                if producer not in taken:
                    taken.add(producer)
                    open_.append(producer)
            elif operand not in arguments:
                arguments.append(operand)
    if block is None:
        return None
    body = Block(arg_types=[argument.type for argument in arguments])
    values = dict[SSAValue, SSAValue](zip(arguments, body.args, strict=True))
    for old, new in zip(arguments, body.args, strict=True):
        new.name_hint = old.name_hint
    for op in block.ops:
        if op in taken:
            body.add_op(op.clone(values))
    results = [values[result] for result in last.results]
    body.add_op(ReturnOp(*results))
    type = FunctionType.from_lists([a.type for a in arguments], [r.type for r in results])
    return ModuleOp([FuncOp("main", type, Region(body))])


def _inputs(op: Operation) -> Iterator[SSAValue]:
    """The values an operation takes from outside, also those its regions use."""
    inside = set(op.walk())
    for inner in inside:
        for operand in inner.operands:
            owner = operand.owner
            around = owner if isinstance(owner, Operation) else owner.parent_op()
            if around not in inside:
                yield operand
