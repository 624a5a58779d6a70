"""The conversion passes: one walk over each function, every op handed to its lowering function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator, MemoryWriteEffect

from torch2mlir.contract.core_ops import SCALAR_OPS, TAKES_NOTHING, TAKING
from torch2mlir.contract.normal_form import normalize
from torch2mlir.contract.op_name import OpName
from torch2mlir.contract.target import get_target
from torch2mlir.conversion.control_flow import CONTROL_FLOW
from torch2mlir.conversion.lowering import DTYPES, Lowering, ResultType, Scalar, Tensor
from torch2mlir.conversion.registry import lowering_functions
from torch2mlir.conversion.scalar_ops import lower_scalar_op
from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.placing import end_of
from torch2mlir.dialects.torch import core, dims
from torch2mlir.dialects.torch import types as t
from torch2mlir.dialects.torch.dims import Dim, KnownSize
from torch2mlir.dialects.torch.ops import RegistryOp
from torch2mlir.dialects.torch.symbols import resolve_shapes
from torch2mlir.dialects.torch.values import Unknown, Values
from torch2mlir.errors import BackendContractError, Torch2MLIRError, UnsupportedOpError

_SKIPPED = (core.ConstantOp, core.PrimListConstructOp, core.SymbolicIntOp, core.BindSymbolicShapeOp)
"""Ops that lowerings see through their operands."""


class FunctionConversion:
    """Converts one function of the backend contract.

    Args:
        target: the dialect to produce.
        sizes: values of symbols; with all of them given the result is fully static.
    """

    def __init__(self, target: str, sizes: Mapping[str, int] | None = None) -> None:
        self.sizes = sizes or {}
        self.functions = lowering_functions(target)
        self.lower: Lowering = get_target(target).lowering_class()
        self.lower.target = get_target(target).name
        self.values = Values()
        self.converted: dict[SSAValue, Tensor | Scalar] = {}

    def run(self, function: FuncOp) -> FuncOp:
        """The converted function."""
        lower = self.lower
        source = function.body.block
        block = Block(arg_types=list(map(self.boundary_type, source.arg_types)))
        for old, new in zip(source.args, block.args, strict=True):
            new.name_hint = old.name_hint
        self.bind(source.args, block.args)
        self._find_symbols(source, block)
        lower.emit(ReturnOp, self.convert_ops(source), [])
        block.add_ops([*lower.finished, *lower.entry, *lower.body])
        drop_unused(block)
        type = FunctionType.from_lists(block.arg_types, end_of(block).operand_types)
        converted = FuncOp(function.sym_name.data, type, Region(block), function.sym_visibility)
        lower.name_boundary(converted, source, self._boundary)
        return converted

    def _boundary(self, type: Attribute) -> ResultType:
        """The type of an argument or result; a Python number is a tensor of rank 0."""
        return ResultType((), DTYPES[type]) if type in DTYPES else self._type(type)

    def convert_ops(self, block: Block) -> list[SSAValue]:
        """Emits the ops of a block; what its terminator hands on."""
        lower = self.lower
        for op in block.ops:
            lower.location = op.location
            lower.op_name = op.op_name if isinstance(op, core.OperatorOp) else op.name
            if op.has_trait(IsTerminator):
                return list(map(self.result, op.operands))
            if (convert := CONTROL_FLOW.get(type(op))) is not None:
                convert(self, op)
            elif isinstance(op, core.RuntimeAssertOp):
                self._convert_assertion(op)
            elif not isinstance(op, _SKIPPED):
                self._convert(op)
        return []

    def bind(self, values: Sequence[SSAValue], converted: Sequence[SSAValue]) -> None:
        """Remembers what values have become."""
        for old, new in zip(values, converted, strict=True):
            self.converted[old] = self._wrap(old, new)

    def boundary_type(self, type: Attribute) -> Attribute:
        """What a type is for arguments and results of functions and regions."""
        if isinstance(type, t.ValueTensorType):
            result = self._type(type)
            return self.lower.tensor_type(result.sizes, result.dtype)
        if type not in DTYPES:
            self._refuse(f"{type} is neither a value tensor nor a number")
        return self.lower.scalar_type(type)

    def _type(self, type: Attribute) -> ResultType:
        """Sizes and element type of a torch type, known symbols replaced by their values."""
        if not isinstance(type, t.ValueTensorType) or type.sizes is None or type.dtype is None:
            self._refuse(f"{type} is not a value tensor of known rank and dtype")
        sizes = list[KnownSize]()
        for size in type.sizes:
            if size is None:
                self._refuse(
                    f"a dimension of {type} is not an expression of the function's symbols",
                    "run torch-refine-types first (it needs PyTorch), or bind the argument's sizes with "
                    "torch.bind_symbolic_shape",
                )
            sizes.append(dims.substitute(size, self.sizes) if self.sizes else size)
        return ResultType(tuple(sizes), type.dtype)

    def _refuse(
        self,
        reason: str,
        hint: str = "run torch-lower-to-backend-contract first",
        op_name: str | None = None,
    ) -> NoReturn:
        """Stops with an error that names the op and its source line."""
        raise BackendContractError(
            reason,
            op=(self.lower.op_name if op_name is None else op_name) or None,
            location=describe(self.lower.location),
            hint=hint,
        )

    def _wrap(self, old: SSAValue, new: SSAValue) -> Tensor | Scalar:
        if isinstance(old.type, t.ValueTensorType):
            result = self._type(old.type)
            return Tensor(new, result.sizes, result.dtype)
        return Scalar(new, DTYPES[old.type])

    def _find_symbols(self, source: Block, block: Block) -> None:
        """Finds for every symbol an argument's dimension that gives its value."""
        solutions = dict[str, tuple[SSAValue, int, KnownSize]]()
        for old, new in zip(source.args, block.args, strict=True):
            if not isinstance(old.type, t.ValueTensorType):
                continue
            for index, size in enumerate(old.type.sizes or ()):
                if isinstance(size, Dim) and (solved := solve(size)) is not None:
                    name, formula = solved
                    if name not in solutions or size.op == "symbol":
                        solutions[name] = (new, index, formula)
        for name, (argument, index, formula) in solutions.items():
            if name in self.sizes:
                continue
            value = self.lower.symbol_from_argument(argument, index)
            held = f"__size_for_{name}"  # sizes are computed once: another symbol's formula may be the same
            self.lower.symbols[held] = value
            own = dims.substitute(formula, {"__size": dims.symbol(held)})
            self.lower.symbols[name] = self.lower.size(own)

    def operand(self, operand: SSAValue) -> Any:
        """An operand as lowerings get it."""
        known = self.converted.get(operand)
        return self._python(self.values.of(operand)) if known is None else known

    def _python(self, value: Any) -> Any:
        match value:
            case SSAValue():
                return self.converted[value]
            case list():
                return [self._python(item) for item in value]
            case Unknown():
                known = self.converted.get(value.value)
                return self._scalar_op(value.value) if known is None else known
            case Dim() if self.sizes:
                return dims.substitute(value, self.sizes)
        return value

    def _scalar_op(self, value: SSAValue) -> Scalar:
        """A Python number that is computed when the program runs."""
        op = value.owner
        if not isinstance(op, Operation) or op.name not in SCALAR_OPS:
            self._refuse(
                "a number that is only known at run time cannot be used here",
                "data-dependent sizes and options cannot be compiled; compute with tensors instead",
                op.name if isinstance(op, Operation) else "",
            )
        operands = [self.operand(operand) for operand in op.operands]
        result = lower_scalar_op(self.lower, self.functions, op, operands)
        self.converted[value] = result
        return result

    def result(self, operand: SSAValue) -> SSAValue:
        """An operand as a value that a terminator can hand on."""
        value = self.operand(operand)
        if isinstance(value, Tensor | Scalar):
            return value.value
        if isinstance(value, int | Dim) and not isinstance(value, bool):
            return self.lower.size_as_scalar(value)
        if isinstance(value, bool | float):
            return self.lower.splat(value, (), DTYPES[operand.type]).value
        return self.lower.fail(f"a {operand.type} cannot be returned")

    def _convert_assertion(self, op: Operation) -> None:
        """Where a dialect has no word for it, violating it is undefined; engines get it as a result instead."""
        function = self.functions.get(op.name)
        if function is not None:
            condition = self.lower.operand(self.operand(op.operands[0]), i1)
            function(self.lower, condition, op.properties["message"])

    def _convert(self, op: Operation) -> None:
        lower = self.lower
        if op.name in SCALAR_OPS:
            return
        if isinstance(op, core.ValueTensorLiteralOp):
            type = op.results[0].type
            result = self._type(type)
            literal = lower.literal(op.value, result.sizes, result.dtype)  # type: ignore[arg-type]
            self.converted[op.results[0]] = literal
            return
        function = self.functions.get(lower.op_name)
        if function is None:
            raise UnsupportedOpError(
                f"no lowering of '{OpName(lower.op_name).dotted}' to {lower.target}",
                op=f"{lower.op_name} : ({', '.join(map(str, op.operand_types))})",
                location=describe(op.location),
                dialect=lower.target,
                hint="register one with @torch2mlir.lowering(..), choose another dialect, or run that part in PyTorch "
                "with torch2mlir.optimize",
            )
        lower.results = list(map(self._type, op.result_types))
        lower.given = op.results
        if lower.results and all(0 in result.sizes for result in lower.results):
            self._convert_to_nothing(op)
            return
        operands = list(map(self.operand, op.operands))
        # results of unknown size may have nothing to take
        sized = all(isinstance(size, int) for result in lower.results for size in result.sizes)
        if sized and op.name in TAKING and 0 in operands[0].sizes:
            self._refuse(TAKES_NOTHING, "call it with elements: eager PyTorch refuses this too")
        if isinstance(op, RegistryOp):
            _check_known(lower, op, operands)
        returned = self._applied(function, operands)
        outputs = returned if isinstance(returned, tuple | list) else (returned,)
        expected_types = lower.results
        if len(outputs) != len(expected_types):
            lower.fail(
                f"the lowering returned {len(outputs)} values, and the op has {len(expected_types)}"
            )
        for value, expected, output in zip(op.results, expected_types, outputs, strict=True):
            if output is None and not value.uses:
                continue
            if not isinstance(output, Tensor):
                lower.fail(
                    f"the lowering returned a {output.__class__.__name__} where a tensor of its own is expected"
                )
            wanted = lower.tensor_type(expected.sizes, expected.dtype)
            # the capture may know more of sizes than their expressions say
            if _is_less_known(output, expected):
                output = lower.reshape(output, expected.sizes)
            if output.value.type != wanted:
                lower.fail(f"the lowering produced {output.value.type} where {wanted} is expected")
            self.converted[value] = Tensor(output.value, expected.sizes, expected.dtype)

    def _applied(self, function: Callable[..., Any], operands: list[Any]) -> Any:
        """What a lowering makes of operands; a size that varies is refused where it computes with numbers only."""
        lower = self.lower
        try:
            return function(lower, *normalize(lower, lower.op_name, operands))
        except (TypeError, AttributeError) as error:
            leaves = (x for each in operands for x in (each if isinstance(each, list) else [each]))
            varying = dict.fromkeys(str(leaf) for leaf in leaves if isinstance(leaf, Dim))
            if not varying or "'Dim'" not in str(error):
                self._fail_of_own(function, error)
                raise
            lower.fail(
                f"an argument of this op must be a constant for {lower.target}, and is a size that varies "
                f"({', '.join(varying)})",
                hint="make that size static, choose another output type, or leave the op to PyTorch with "
                "torch2mlir.optimize",
            )
        except Torch2MLIRError:
            raise
        except Exception as error:
            self._fail_of_own(function, error)
            raise

    def _fail_of_own(self, function: Callable[..., Any], error: Exception) -> None:
        """What a lowering of the user's raises has the op and its line beside it."""
        if not str(function.__module__).startswith("torch2mlir."):
            name = getattr(function, "__qualname__", "of the user's")
            raise UnsupportedOpError(
                f"its lowering '{name}' raises {type(error).__name__}: {error}",
                op=self.lower.op_name,
                location=describe(self.lower.location),
                dialect=self.lower.target,
                hint="it is called with the emitter and the op's operands, as docs/own_ops.md shows",
            ) from error

    def _convert_to_nothing(self, op: Operation) -> None:
        """Results without elements are not computed: engines refuse many ops on such tensors, and die of some."""
        for value, type in zip(op.results, self.lower.results, strict=True):
            self.converted[value] = self.lower.splat(0, type.sizes, type.dtype)


def _is_less_known(found: Tensor, expected: ResultType) -> bool:
    """Whether numbers are expected for some sizes that were found as expressions, and all else is the same."""
    if found.dtype != expected.dtype or found.rank != len(expected.sizes):
        return False
    pairs = [pair for pair in zip(found.sizes, expected.sizes, strict=True) if pair[0] != pair[1]]
    return any(pairs) and all(
        isinstance(size, Dim) and isinstance(known, int) for size, known in pairs
    )


def _check_known(lower: Lowering, op: RegistryOp, operands: Sequence[Any]) -> None:
    """Dimensions, sizes and positions are constants or expressions of sizes, not numbers that the program computes."""
    for argument, operand in zip(op.schema.arguments, operands, strict=True):
        for each in operand if isinstance(operand, list) else (operand,):
            if isinstance(each, Scalar) and argument.type.startswith(_INTS):
                lower.fail(
                    f"the {argument.name} must be a constant or a size",
                    hint="index with a tensor instead",
                )


_INTS = ("int", "SymInt")


def drop_unused(block: Block) -> None:
    """Removes ops whose results nobody uses; those that say they write stay, as barriers of an engine's passes do."""
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        is_unused = op.results and all(result.first_use is None for result in op.results)
        if is_unused and not op.has_trait(MemoryWriteEffect, value_if_unregistered=False):
            op.detach()
            op.erase()
        else:
            for region in op.regions:
                for nested in region.blocks:
                    drop_unused(nested)
        op = previous


def solve(size: Dim) -> tuple[str, KnownSize] | None:
    """For ``a*s + b``, the symbol and its value as an expression of ``__size``, the whole expression's value."""
    names = set(size.symbols())
    if len(names) != 1:
        return None
    (name,) = names
    offset = dims.substitute(size, {name: 0})
    slope = dims.sub(dims.substitute(size, {name: 1}), offset)
    known = isinstance(offset, int) and isinstance(slope, int) and slope != 0
    if not known or dims.add(dims.mul(slope, dims.symbol(name)), offset) != size:
        return None
    return name, dims.floordiv(dims.sub(dims.symbol("__size"), offset), slope)


def convert_module(
    module: ModuleOp, target: str, sizes: Mapping[str, int] | None = None
) -> ModuleOp:
    """A new module with every function converted; the contract-level module stays as it is.

    Args:
        module: satisfies the backend contract.
        target: ``linalg-on-tensors``, ``stablehlo`` or ``tosa``.
        sizes: symbol -> value, to specialise to concrete shapes.

    Raises:
        UnsupportedOpError: an op has no lowering.
    """
    converted = list[Operation]()
    for op in module.body.block.ops:
        if isinstance(op, FuncOp):
            converted.append(FunctionConversion(target, sizes).run(op))
    return ModuleOp(converted)


class ConversionPass(ModulePass):
    """Base of the conversion passes."""

    target: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        resolve_shapes(op)
        converted = convert_module(op, self.target)
        block = op.body.block
        for function in list(block.ops):
            if isinstance(function, FuncOp):
                function.detach()
                function.drop_all_references()
        for function in list(converted.body.block.ops):
            function.detach()
            block.add_op(function)


@dataclass(frozen=True)
class ConvertTorchToTargetPass(ConversionPass):
    """Backend contract to any registered target, one of the user's own for example.

    Args:
        target: its name.
    """

    name = "convert-torch-to-target"
    target: str = "linalg-on-tensors"


@dataclass(frozen=True)
class ConvertTorchToLinalgPass(ConversionPass):
    """Backend contract to Linalg-on-Tensors."""

    name = "convert-torch-to-linalg"
    target = "linalg-on-tensors"


@dataclass(frozen=True)
class ConvertTorchToStablehloPass(ConversionPass):
    """Backend contract to StableHLO."""

    name = "convert-torch-to-stablehlo"
    target = "stablehlo"


@dataclass(frozen=True)
class ConvertTorchToTosaPass(ConversionPass):
    """Backend contract to TOSA."""

    name = "convert-torch-to-tosa"
    target = "tosa"


def conversion_pass(target: str) -> ModulePass:
    """The pass from the backend contract to a target, of the target's own name where it has one."""
    for own in (ConvertTorchToLinalgPass, ConvertTorchToStablehloPass, ConvertTorchToTosaPass):
        if own.target == target:
            return own()
    return ConvertTorchToTargetPass(target)
