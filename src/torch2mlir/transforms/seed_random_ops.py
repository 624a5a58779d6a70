"""``torch-seed-random-ops``: random numbers become a function of a seed, the last argument of the program.

The argument ``%seed`` is a rank-0 i64 tensor; only functions that draw random numbers have it. Each op that draws has
a number of its own, so two ops draw independent numbers from one seed, and one seed gives the same numbers again, on
every dialect and engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation

from torch2mlir.contract.pass_order import PassForOps
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.torch import core
from torch2mlir.dialects.torch import types as t
from torch2mlir.errors import BackendContractError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.weights import constant_literal
from torch2mlir.transforms.decompose_complex_ops import Decomposer, dialect_names
from torch2mlir.transforms.decompositions.random import RANDOM_WORDS, SEEDED_WORDS
from torch2mlir.transforms.semantics.fake import FakeWorld

SEED_TYPE = t.vtensor((), dtypes.element_type(torch.int64))


def seed_random_ops(function: FuncOp, decomposer: Decomposer) -> BlockArgument | None:
    """Appends the seed to a function's arguments and makes its random words from it; None if there are none.

    Raises:
        BackendContractError: numbers are drawn in a loop, which would draw the same ones at each turn.
    """
    drawing = [
        op
        for op in function.walk()
        if isinstance(op, core.OperatorOp) and op.op_name == RANDOM_WORDS
    ]
    if not drawing:
        return None
    block = function.body.block
    seed = block.insert_arg(SEED_TYPE, len(block.args))
    seed.name_hint = "seed"
    results = list(function.function_type.outputs)
    function.properties["function_type"] = FunctionType.from_lists(
        [argument.type for argument in block.args], results
    )
    for number, op in enumerate(drawing):
        _check_not_in_a_loop(op)
        literal = constant_literal(torch.tensor(number, dtype=torch.int32))
        seeded = core.OperatorOp.build_named(
            SEEDED_WORDS,
            [seed, literal.results[0], *op.operands],
            op.result_types,
            op.location,
        )
        surrounding = op.parent
        assert surrounding is not None
        surrounding.insert_ops_before([literal, seeded], op)
        for old, new in zip(op.results, seeded.results, strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
    decomposer.run(block)
    return seed


def _check_not_in_a_loop(op: Operation) -> None:
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, core.PrimLoopOp):
            raise BackendContractError(
                "random numbers are drawn in a loop",
                op=parent.name,
                location=describe(op.location),
                hint="draw the numbers of all turns before the loop, and take those of each turn in it",
            )
        parent = parent.parent_op()


@dataclass(frozen=True)
class SeedRandomOpsPass(PassForOps):
    """See the module's docstring; ``legal-ops`` are not decomposed."""

    name = "torch-seed-random-ops"
    looks_for = frozenset({core.OperatorOp.name})

    legal_ops: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions: Iterable[Operation] = list(op.body.block.ops)
        decomposer = Decomposer(FakeWorld.of(op), dialect_names(self.legal_ops))
        for function in functions:
            if isinstance(function, FuncOp):
                seed_random_ops(function, decomposer)
