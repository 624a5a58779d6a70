"""The one road: a captured program to the backend contract, prepared for a target, converted to its dialect.

``export_and_import``, ``compile``, TorchScript, the lazy device, ``torch.compile``, the command line and the pipelines
of ``opt`` run the passes named here, which a :class:`~torch2mlir.contract.target.Target` parametrizes. Whoever wants to
watch them (verification, dumps, times, reproducers) does so with :func:`watched`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from torch2mlir.contract.op_name import OpName
from torch2mlir.contract.pass_order import op_names, run_in_order
from torch2mlir.contract.target import BEFORE_TARGETS, check_output_type, get_target
from torch2mlir.conversion.driver import conversion_pass, convert_module
from torch2mlir.conversion.registry import own_ops
from torch2mlir.dialects import Context, make_context
from torch2mlir.dialects.torch.core import RuntimeAssertOp, ValueTensorLiteralOp
from torch2mlir.dialects.torch.symbols import bind_all_shapes
from torch2mlir.dialects.torch.types import ValueTensorType, vtensor
from torch2mlir.dialects.weights import TensorSource
from torch2mlir.errors import BackendContractError, InputError, PassError
from torch2mlir.frontends import dtypes
from torch2mlir.frontends.fx.decisions import noted
from torch2mlir.frontends.weights import TorchSource
from torch2mlir.garbage import older_objects_left_alone
from torch2mlir.program import Program, SeedInput, Signature, StateInput, UserOutput, entry_function
from torch2mlir.transforms import PASSES, decompose_complex_ops, refine_types  # noqa: F401 - slow to import, needed always
from torch2mlir.transforms.check_indices import PRECONDITIONS, preconditions_of
from torch2mlir.transforms.checks_as_results import checks_as_results
from torch2mlir.transforms.decompositions import find_overload
from torch2mlir.transforms.lower_to_backend_contract import LowerToBackendContractPass
from torch2mlir.transforms.semantics.needs import needs_as_captured, needs_at_contract
from torch2mlir.transforms.weights_as_arguments import weights_as_arguments
from torch2mlir.turns import in_turn

Watcher = Callable[[Sequence[ModulePass], ModuleOp], None]
"""Runs passes over a module, in place, and looks at what they do."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """While this lasts, all passes of this thread's pipelines are run by ``watcher``."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@dataclass(frozen=True)
class Pipeline:
    """The passes from a captured program to an output type.

    Args:
        output_type: ``raw``, ``torch`` or the name of a target.
        backend_legal_ops: ops that are not core and kept whole.
        check_indices: whether programs for an engine look at tensors of indices.
    """

    output_type: str
    backend_legal_ops: tuple[str, ...] = ()
    check_indices: bool = True

    @staticmethod
    def to(
        output_type: object, backend_legal_ops: Sequence[str] = (), check_indices: bool = True
    ) -> Pipeline:
        """The pipeline to an output type, by any of its names.

        Raises:
            Torch2MLIRError: there is no such output type.
            InputError: an op that is to be kept is none.
        """
        if isinstance(backend_legal_ops, str):
            raise InputError(
                "backend_legal_ops is a list of names", hint=f"pass [{backend_legal_ops!r}]"
            )
        names = tuple(map(str, backend_legal_ops))  # which PyTorch's own operators have as well
        for name in names:
            if find_overload(OpName.of(name)) is None:
                raise InputError(
                    f"backend_legal_ops: PyTorch knows no operator '{name}'",
                    hint="name it as PyTorch's schemas do, with its overload: 'aten.softmax.int'",
                )
        return Pipeline(check_output_type(output_type), names, check_indices)

    @property
    def is_conversion(self) -> bool:
        """Whether it ends in a target dialect."""
        return self.output_type not in BEFORE_TARGETS

    @in_turn()
    @older_objects_left_alone()
    def lower(
        self, program: Program, weights_as_arguments: bool = False, check_indices: bool = False
    ) -> Program:
        """Brings a program to the backend contract, as the target wants it; works in place and returns it.

        Args:
            program: as captured, or lowered by this pipeline before.
            weights_as_arguments: make every weight an argument of the function.
            check_indices: assert that tensors of indices are in range.

        Raises:
            BackendContractError: something in it is not core and cannot be decomposed.
        """
        if self.output_type != "raw" and program.output_type == "raw":
            legal = self.backend_legal_ops
            if self.is_conversion:
                legal = (*legal, *sorted(own_ops(self.output_type)))
            steps = [LowerToBackendContractPass(legal, check_indices=check_indices)]
            signature = program.signature
            entry = entry_function(program.module, program.func_name)
            signature.decisions += needs_as_captured(entry, signature.ranges)
            with noted(signature.decisions):
                run_steps(steps, program.module)
                _refine_results(program)  # to PyTorch's types, of which the target may not have all
                if self.is_conversion:
                    run_steps(_passes(get_target(self.output_type).preparation), program.module)
            program.reached("torch")
        if weights_as_arguments and ValueTensorLiteralOp.name in op_names(program.module):
            pass_weights_as_arguments(program)
        return program

    def lower_for_engine(self, program: Program) -> Program:
        """As :meth:`lower`, weights as arguments and what the program asserts as results.

        Raises:
            BackendContractError: something in it is not core and cannot be decomposed.
        """
        self.lower(program, weights_as_arguments=True, check_indices=self.check_indices)
        run_passes(["torch-keep-products"], program.module)
        entry, signature = entry_function(program.module, program.func_name), program.signature
        if signature.ranges:
            decisions = [*signature.decisions, *needs_at_contract(entry)]
            signature.decisions = list(dict.fromkeys(decisions))
        if RuntimeAssertOp.name in op_names(program.module):
            signature.checks = [*signature.checks, *checks_as_results(entry)]
        if PRECONDITIONS in entry.attributes:
            signature.preconditions = [*signature.preconditions, *preconditions_of(entry)]
        return program

    @in_turn()
    @older_objects_left_alone()
    def convert(self, program: Program, sizes: Mapping[str, int] | None = None) -> ModuleOp:
        """A new module in the target's dialect; the program stays at the contract.

        Args:
            program: lowered by this pipeline.
            sizes: values of the symbols, to specialise to concrete shapes.

        Raises:
            UnsupportedOpError: an op has no lowering.
        """
        target = get_target(self.output_type)
        finishing = _passes(target.finishing)
        if not sizes and _watcher() is not None:
            module = program.module.clone()
            run_steps([conversion_pass(target.name), *finishing], module)
            return module
        module = convert_module(program.module, target.name, sizes)
        run_steps(finishing, module)
        return module

    @older_objects_left_alone()
    def run(self, program: Program, weights_as_arguments: bool = False) -> Program:
        """The program in the output type; up to the contract the module is changed in place."""
        self.lower(program, weights_as_arguments)
        if self.is_conversion:
            return replace(program, module=self.convert(program), output_type=self.output_type)
        if self.output_type == "torch" and program.signature.ranges:
            bind_all_shapes(program.module)
        run_passes(["torch-bools-to-integers"], program.module)
        return program


def _passes(names: Sequence[str]) -> list[ModulePass]:
    if unknown := [name for name in names if name not in PASSES]:
        raise PassError(
            f"there is no pass {unknown[0]}",
            hint="a target's preparation and finishing name passes: torch2mlir opt --help lists them",
        )
    return [PASSES[name]()() for name in names]


def run_passes(names: Sequence[str], module: ModuleOp) -> None:
    """Runs passes, by their pipeline names and in place, as the pipeline runs its own."""
    run_steps(_passes(names), module)


@in_turn()
def run_steps(steps: Sequence[ModulePass], module: ModuleOp) -> None:
    """Runs passes in place, by whoever watches."""
    watcher = _watcher()
    if watcher is not None and steps:
        watcher(steps, module)
    elif steps:
        run_in_order(steps, _context(), module)


@cache
def _context() -> Context:
    return make_context()


def _watcher() -> Watcher | None:
    """Who watches: of this context, or whoever the environment asks for."""
    watcher = _WATCHER.get()
    if watcher is None and (asked := os.environ.get("TORCH2MLIR_INSTRUMENT")):
        from torch2mlir.tools.instrumentation import from_environment

        return from_environment(asked)
    return watcher


def _refine_results(program: Program) -> None:
    """Says of which types the results are, where capture could not.

    Raises:
        BackendContractError: a buffer does not keep its shape and dtype.
    """
    signature = program.signature
    types = iter(entry_function(program.module, program.func_name).function_type.outputs.data)
    before = _state_types(signature) if signature.mutations else {}
    for mutation, type in zip(signature.mutations, types):
        old = None if mutation.position is not None else before.get(mutation.name)
        if old is not None and type != old:
            raise BackendContractError(
                f"the buffer '{mutation.name}' is a {old} before a call and a {type} after it",
                hint="what a program keeps has one shape: allocate the largest and write into a part of it",
            )
    for index, output in enumerate(signature.outputs):
        if isinstance(output, UserOutput):
            type = next(types)
            signature.outputs[index] = UserOutput(
                type if isinstance(type, ValueTensorType) else None
            )


def _state_types(signature: Signature) -> dict[str, ValueTensorType | None]:
    return {state.name: state.type for state in signature.state_inputs}


def pass_weights_as_arguments(program: Program) -> Program:
    """Makes every weight a function argument of a program at the contract; in place."""
    inputs = program.signature.inputs
    position = len(inputs) - sum(isinstance(i, SeedInput) for i in inputs)  # the seed stays last
    weights = weights_as_arguments(entry_function(program.module, program.func_name), position)
    inputs[position:position] = [
        StateInput(
            source.name,
            source.tensor if isinstance(source, TorchSource) else source,
            _type_of_weight(source, argument.type),
        )
        for source, argument in weights
    ]
    return program


def _type_of_weight(source: TensorSource, type: Any) -> ValueTensorType:
    """The type that a weight's tensor has in PyTorch: the function may take the parts of complex numbers."""
    if isinstance(source, TorchSource) and source.tensor.is_complex():
        return vtensor(tuple(source.tensor.shape), dtypes.element_type(source.tensor.dtype))
    return type
