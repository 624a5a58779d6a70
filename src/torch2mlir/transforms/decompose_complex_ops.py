"""``torch-decompose-complex-ops``: everything that is not core, through PyTorch's decomposition of that one op."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.functional_tensor import FunctionalTensorMode, dispatch_functionalize
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree
from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from torch2mlir.contract.core_ops import CORE_ON_REAL, CORE_OPS, IDENTITIES, PARTLY_CORE, SCALAR_OPS
from torch2mlir.contract.op_name import OpName
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize, substitute, symbol
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.schema import Schema
from torch2mlir.dialects.torch.types import AnyTensorType
from torch2mlir.dialects.torch.values import Values
from torch2mlir.errors import BackendContractError, Torch2MLIRError
from torch2mlir.frontends.fx.constants import ConstantPool
from torch2mlir.frontends.fx.decisions import note
from torch2mlir.frontends.fx.importer import GraphImporter
from torch2mlir.frontends.fx.mutation import is_pure, needs_functionalization
from torch2mlir.frontends.fx.questions import asked_by, by_decomposition
from torch2mlir.frontends.reached_objects import is_installed
from torch2mlir.program import Decision
from torch2mlir.transforms.decompositions import find_decomposition, find_overload, table
from torch2mlir.transforms.decompositions.own_ops import PYTORCHS, body_of, schema_of_overload
from torch2mlir.transforms.semantics.calls import Call
from torch2mlir.transforms.semantics.fake import FakeWorld
from torch2mlir.transforms.semantics.needs import Needs, needs_of_a_result
from torch2mlir.transforms.semantics.needs_of_ops import AT_CONTRACT, CONVOLUTION, FILLED
from torch2mlir.transforms.templates import Template, Traced, traced_once
from torch2mlir.transforms.typing.type_lattice import agree

_TYPED_OTHERWISE = {"torch.aten.embedding_bag", "torch.aten.embedding_bag.padding_idx"}
"""Ops whose further results, of other types on fake tensors than in PyTorch's kernels, nobody computes with."""


class _CoreAsItIs(Exception):
    """The form of a partly core op that is core."""


class Decomposer:
    """Replaces ops by their decompositions, each distinct call traced once.

    Args:
        world: fake tensors over the module's symbols.
        keep: ops that stay whole although they are not core, by dialect name.
    """

    def __init__(self, world: FakeWorld, keep: Iterable[str] = ()) -> None:
        self.world = world
        self.keep = (CORE_OPS - PARTLY_CORE) | IDENTITIES | SCALAR_OPS | set(keep)
        self.values = Values()
        self.needs = Needs(world.given, self.values, world.facts)
        self._templates: dict[Hashable, Traced] = {}
        self._expanded = 0

    def run(self, block: Block) -> None:
        """Decomposes every op of a block."""
        entry = block.first_op

        def at_entry(op: Operation) -> None:
            nonlocal entry
            if entry is not None and entry.parent is None:  # it has been decomposed itself
                entry = block.first_op
            if entry is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, entry)

        constants = ConstantPool(at_entry)
        for op in list(block.ops):
            if op.name in FILLED:
                self.needs.note_of_elements(op)
            self._run(op, block, constants)

    def _run(self, op: Operation, block: Block, constants: ConstantPool) -> None:
        for region in op.regions:
            for nested in region.blocks:
                self.run(nested)
        if op.name == CONVOLUTION:
            self.needs.note_of_elements(op)
        if isinstance(op, RegistryOp | core.OperatorOp) and self._is_wanted(op):
            self._decompose(op, block, constants)

    def _is_wanted(self, op: Operation) -> bool:
        """Whether an op is to be replaced."""
        name = _name(op)
        if name in self.keep:
            return False
        return name not in CORE_ON_REAL or any(map(has_complex_elements, tensor_types(op)))

    def _function(self, name: str, overload: OpOverload) -> Callable[..., Any] | None:
        """What an op is replaced by, or None."""
        return find_decomposition(overload) or body_of(overload)

    def _may_use_itself(self, name: str) -> bool:
        """Whether an op's replacement may contain the op, on other operands; if not, that is no progress."""
        return name in PARTLY_CORE

    def _decompose(self, op: Operation, block: Block, constants: ConstantPool) -> None:
        name = _name(op)
        try:
            overload = find_overload(name)
            schema = _schema(op, overload)
            if overload is None or schema is None or schema.is_variadic:
                return
            call = Call.of(op, schema, self.values)
            key = (name, call.key)
            if key not in self._templates:
                self._templates[key] = traced = self._traced(op, name, overload, call)
                for question in traced.asked:
                    place = describe(op.location)
                    note(question.decision_of_op(traced.world.names(), place))
            traced = self._templates[key]
            if traced.template is not None:
                self.needs.note(op, [value.type for value in _tensors(op)])
                self.needs.note_questions(op, traced.template.questions, traced.world.names())
                self._expand(traced.template, traced.world, op, call, block, constants)
        except Torch2MLIRError as error:
            error.op = error.op or name
            error.location = error.location or describe(op.location)
            raise

    def _traced(self, op: Operation, name: str, overload: OpOverload, call: Call) -> Traced:
        function = self._function(name, overload)
        if function is None:
            return Traced(None, (), self.world)
        decomposition = function
        needs = needs_of_a_result(op, self.values, [value.type for value in _tensors(op)])
        self.world.suit(needs)

        def trace() -> Traced:
            with asked_by(by_decomposition) as asked:
                template = self._trace(decomposition, name, overload, call, needs)
            questions = [each for each in asked.values() if not each.is_about_nothing]
            return Traced(template, questions, self.world)

        return traced_once(trace, overload, decomposition, call, needs, self.world)

    def _trace(
        self,
        decomposition: Callable[..., Any],
        name: str,
        overload: OpOverload,
        call: Call,
        needs: Sequence[Decision],
    ) -> Template | None:
        before = len(self.world.learned)

        def flat(*leaves: Any) -> Any:
            args, kwargs = call.rebuild(leaves)
            result = decomposition(*args, **kwargs)
            if result is NotImplemented:
                raise _CoreAsItIs
            return result

        try:
            graph_module = self.world.trace(flat, call.fakes, table(), needs)
            if needs_functionalization(graph_module.graph):
                functional = dispatch_functionalize(flat, FunctionalTensorMode())
                graph_module = self.world.trace(functional, call.fakes, table(), needs)
        except _CoreAsItIs:
            return None
        except Torch2MLIRError:
            raise
        except Exception as error:  # PyTorch's own errors: bad arguments, guards on unknown sizes
            said = f"{type(error).__name__}: {error}"
            if not is_installed(getattr(decomposition, "__module__", "torch")):
                raise BackendContractError(
                    f"its decomposition '{decomposition.__qualname__}' raises {said}",
                    hint="it is called with fake tensors, whose sizes may be symbols and whose elements nobody knows",
                ) from error
            raise BackendContractError(
                f"PyTorch could not decompose this op: {said}",
                hint="check the op's arguments, make the sizes it depends on static, or say what it "
                "is with @torch2mlir.decomposition(..) or @torch2mlir.lowering(..)",
            ) from error
        placeholders, live, returned = _live(graph_module.graph)
        attributes = dict[str, torch.Tensor | GraphModule]()
        for node in live:
            if node.op == "get_attr":
                attributes[str(node.target)] = getattr(graph_module, str(node.target))
            elif node.target is overload and not self._may_use_itself(name):
                return None
        learned = self.world.learned[before:]
        asked = self.world.unexplored
        return Template(live, placeholders, returned, attributes, asked, learned)

    def _expand(
        self,
        template: Template,
        world: FakeWorld,
        op: Operation,
        call: Call,
        block: Block,
        constants: ConstantPool,
    ) -> None:
        added = list[Operation]()

        def insert(new: Operation) -> None:
            added.append(new)
            block.insert_op_before(new, op)

        importer = GraphImporter(
            insert,
            template.attributes.__getitem__,
            self._size_of(template, world, op),
            op.location,
            constants,
        )
        for placeholder, leaf in zip(template.placeholders, call.values, strict=True):
            importer.values[placeholder] = leaf
        for node in template.nodes:
            if node.op == "get_attr":
                attribute = template.attributes[str(node.target)]
                if isinstance(attribute, torch.Tensor):
                    importer.values[node] = importer.constant(attribute)
        importer.run(template.nodes)
        results = list[SSAValue]()
        for returned in template.results:
            known = importer.values.get(returned) if isinstance(returned, Node) else None
            several = known is not None and not isinstance(known, SSAValue)
            results.extend(known if several else [importer.operand(returned)])  # type: ignore[arg-type]
        if _name(op) not in _TYPED_OTHERWISE:
            _check_types(op, results)
        _replace_results(op, results)
        op.detach()
        op.erase()
        for (
            inserted
        ) in added:  # writes in PyTorch's decompositions become ops that are not core either
            if inserted.name in AT_CONTRACT:
                self.needs.note_of_elements(inserted)
            self._run(inserted, block, constants)

    def _size_of(
        self, template: Template, world: FakeWorld, op: Operation
    ) -> Callable[[int | torch.SymInt], KnownSize]:
        """How sizes of a template's values are named where it takes the place of an op.

        A size of a result that depends on elements has the name that the op's type has for it; others get new names.
        """
        if not template.learned:
            return world.size_of
        names = dict[str, KnownSize]()
        for returned, result in zip(template.results, _tensors(op), strict=False):
            fake = returned.meta.get("val") if isinstance(returned, Node) else None
            known = result.type.sizes if isinstance(result.type, t.ValueTensorType) else None
            if not isinstance(fake, torch.Tensor) or known is None:
                continue
            if fake.dim() != len(known):
                raise BackendContractError(
                    f"a result has rank {len(known)} in the captured program, and {fake.dim()} where it is computed",
                    hint="let torch2mlir.compile(model, ..) capture the model: PyTorch's own export mistakes it",
                )
            for size, name in zip(map(world.size_of, fake.shape), known, strict=True):
                if isinstance(size, Dim) and size.op == "symbol" and name is not None:
                    names.setdefault(size.name, name)
        names = {name: size for name, size in names.items() if name in template.learned}
        for learned in template.learned:
            if learned not in names:
                self._expanded += 1
                names[learned] = symbol(f"{learned}_{self._expanded}")
        return lambda size: substitute(world.size_of(size), names)


def tensor_types(op: Operation) -> Iterator[Attribute]:
    """Of operands and results, and of the members of lists."""
    for value in (*op.operands, *op.results):
        source = value.owner
        if isinstance(source, core.PrimListConstructOp):
            yield from source.operand_types
        else:
            yield value.type


def has_complex_elements(type: Attribute) -> bool:
    """Whether it is a type of tensors of complex numbers."""
    return isinstance(type, AnyTensorType) and isinstance(type.dtype, ComplexType)


def _name(op: Operation) -> str:
    return op.op_name if isinstance(op, core.OperatorOp) else op.name


def _schema(op: Operation, overload: OpOverload | None) -> Schema | None:
    """What an op takes: the registry says it, or, of an op outside it, the installed PyTorch."""
    if isinstance(op, RegistryOp):
        return op.schema
    return None if overload is None else schema_of_overload(overload)


def _live(graph: Graph) -> tuple[list[Node], list[Node], list[Any]]:
    """The placeholders, the nodes that the results need or that do something, and the results."""
    placeholders, kept, needed, returned = list[Node](), list[Node](), set[Node](), list[Any]()
    for node in reversed(graph.nodes):
        if node.op == "output":
            returned = pytree.tree_leaves(node.args[0])
            needed.update(node.all_input_nodes)
        elif node.op == "placeholder":
            placeholders.append(node)
        elif node in needed or not is_pure(node.target):
            kept.append(node)
            needed.update(node.all_input_nodes)
    return placeholders[::-1], kept[::-1], returned


def _tensors(op: Operation) -> Sequence[SSAValue]:
    """The results of an op; for a list of tensors, its members where it is unpacked."""
    tensors = list[SSAValue]()
    for result in op.results:
        users = [use.operation for use in result.uses]
        unpacked = (user.results for user in users if isinstance(user, core.PrimListUnpackOp))
        is_list = isinstance(result.type, t.ListType)
        tensors.extend(next(unpacked, ()) if is_list else [result])
    return tensors


def _check_types(op: Operation, results: Sequence[SSAValue]) -> None:
    """That the new results have the dtypes, ranks and known sizes of the op's.

    Raises:
        BackendContractError: one has others: a fault of the decomposition that would go on unseen.
    """
    for old, new in zip(_tensors(op), results, strict=False):
        was, becomes = old.type, new.type
        if not isinstance(was, t.AnyTensorType) or old.first_use is None:
            continue
        if not isinstance(becomes, t.AnyTensorType) or not agree(was, becomes):
            raise BackendContractError(
                f"the op's result is {was} and its decomposition's {becomes}",
                hint="report it, or say what the op is with @torch2mlir.decomposition(..)"
                if OpName(_name(op)).parts[0] in PYTORCHS
                else "correct the operator's register_fake, or the function that computes it",
            )


def _replace_results(op: Operation, results: Sequence[SSAValue]) -> None:
    """Gives the users of an op's results the new ones: a list of tensors has those that are left by the others."""
    members = len(results) - len(op.results) + 1
    has_list = [isinstance(result.type, t.ListType) for result in op.results].count(True) == 1
    if members < 0 or (members != 1 and not has_list):
        raise BackendContractError(
            f"the op has {len(op.results)} results where PyTorch gives {len(results)}",
            hint="write it with the results of its schema",
        )
    rest = iter(results)
    for old in op.results:
        if isinstance(old.type, t.ListType):
            _replace_list(old, list(islice(rest, members)))
        else:
            old.replace_all_uses_with(next(rest))


def _replace_list(value: SSAValue, results: Sequence[SSAValue]) -> None:
    """Gives the users of a list of tensors its members: unpacking disappears."""
    for use in list(value.uses):
        user = use.operation
        if not isinstance(user, core.PrimListUnpackOp):
            raise BackendContractError(
                "a list of tensors is used as a whole", hint="unpack it where it is made"
            )
        if len(user.results) != len(results):
            raise BackendContractError(
                f"a list of {len(results)} tensors is unpacked into {len(user.results)}",
                hint="unpack as many as there are",
            )
        for old, new in zip(user.results, results, strict=True):
            old.replace_all_uses_with(new)
        user.detach()
        user.erase()


@dataclass(frozen=True)
class DecomposeComplexOpsPass(ModulePass):
    """Decomposes every non-core op; ``legal-ops`` are kept."""

    name = "torch-decompose-complex-ops"

    legal_ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        decomposer = Decomposer(FakeWorld.of(op), dialect_names(self.legal_ops))
        for function in op.walk():
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    decomposer.run(block)


def dialect_names(names: Iterable[str]) -> set[str]:
    """``aten.linear`` and ``torch.aten.linear`` are both accepted from users."""
    return set(map(OpName.of, names))
