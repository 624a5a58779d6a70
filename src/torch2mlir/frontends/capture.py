"""From a model to a captured program: torch.export for modules and functions, TorchScript for what is scripted."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import torch
from torch._ops import OperatorBase, OpOverloadPacket
from torch.utils import _pytree as pytree

from torch2mlir.errors import BackendContractError, CaptureError, Torch2MLIRError
from torch2mlir.frontends.asked_of_tensors import arrangements, flags_of
from torch2mlir.frontends.capture_failures import check_arguments, explained
from torch2mlir.frontends.changed_containers import containers_kept
from torch2mlir.frontends.changing_models import Changes, Holder, referred_modules
from torch2mlir.frontends.example_tensors import apart
from torch2mlir.frontends.further_names import beside_others, further_names_beside_others
from torch2mlir.frontends.fx.assigned_buffers import assignments_kept, assignments_refused
from torch2mlir.frontends.fx.calls_by_layout import CallsByLayout, Seen, note_seen
from torch2mlir.frontends.fx.exported import import_exported_program
from torch2mlir.frontends.fx.function_transforms import (
    TransformsNoted,
    exported_below_autograd,
    has_autocast,
)
from torch2mlir.frontends.fx.functions_said_otherwise import without_looking
from torch2mlir.frontends.fx.functions_that_check import FunctionsThatCheck
from torch2mlir.frontends.fx.numbers_of_constants import (
    NUMBERS,
    NumbersOfConstants,
    numbers_asked,
    plain_tensors,
)
from torch2mlir.frontends.fx.numbers_of_elements import numbers_kept_apart
from torch2mlir.frontends.fx.places_from_tensors import PlacesFromTensors
from torch2mlir.frontends.fx.python_functions import python_functions_of_sizes
from torch2mlir.frontends.fx.questions import asked_by, by_model
from torch2mlir.frontends.fx.quiet import quiet
from torch2mlir.frontends.fx.raised_errors import RaisedErrors
from torch2mlir.frontends.fx.refused_writes import check_memory
from torch2mlir.frontends.fx.regions import grad_modes_unrecorded, is_lost_body
from torch2mlir.frontends.fx.sizes_of_results import bounded_sizes
from torch2mlir.frontends.fx.small_constants import small_constants_known
from torch2mlir.frontends.fx.symbols import (
    UnwritableSize,
    free_sizes,
    size_names,
    without_sizes,
)
from torch2mlir.frontends.fx.texts_of_numbers import TEXTS, texts_noted, warn_of_texts
from torch2mlir.frontends.fx.unneeded_conversions import unneeded_conversions_left_out
from torch2mlir.frontends.fx.written_constants import written_constants_forgotten
from torch2mlir.frontends.later_calls import takes_any_elements
from torch2mlir.frontends.padded_encoders import warn_of_padding
from torch2mlir.frontends.python_random import (
    CLOCKS,
    DRAWN,
    check_draws,
    check_generators,
    draws_noted,
)
from torch2mlir.frontends.pytrees import has_symbols, knows_caches, register_types
from torch2mlir.frontends.reached_objects import Reached
from torch2mlir.frontends.returned_arguments import results_noted
from torch2mlir.frontends.tensor_classes import overrides_functions
from torch2mlir.frontends.trials import python_undone, repeated
from torch2mlir.frontends.updated_caches import Pairs, changes_watched, check_apart
from torch2mlir.garbage import paused_garbage_collection
from torch2mlir.program import Decision, Program
from torch2mlir.turns import in_turn

Model = torch.nn.Module | Callable[..., Any] | torch.export.ExportedProgram | Program


def capture(
    model: Model,
    *args: Any,
    dynamic_shapes: Any = None,
    func_name: str = "main",
    **kwargs: Any,
) -> Program:
    """The raw torch-dialect program of a model.

    Args:
        model: a module, a function of tensors, an exported program, or a program captured before.
        args: example arguments; an exported program needs none.
        dynamic_shapes: as ``torch.export.export`` takes it.
        func_name: name of the function in the module.
        kwargs: example keyword arguments.

    Raises:
        CaptureError: PyTorch cannot export the model, or the graph has no torch-dialect form.
    """
    return captured(model, args, kwargs, dynamic_shapes, func_name)


@in_turn()
def captured(
    model: Model,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any = None,
    func_name: str = "main",
    keeps_state: bool = False,
) -> Program:
    """As :func:`capture`, with the examples as a sequence and a mapping: no name is taken by an option.

    ``keeps_state`` tells that sizes which elements of the model's own tensors decide are to be numbers: the program
    asks at every call whether these elements are what they were.
    """
    if isinstance(model, Program):
        return model
    if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        return _capture_script(model, args, kwargs, dynamic_shapes)
    if isinstance(model, torch.export.ExportedProgram):
        with paused_garbage_collection():
            return import_exported_program(model, func_name, keeps_state=keeps_state)
    caches: Pairs = []
    returned = dict[int, int]()
    with asked_by(by_model, with_settled=True) as asked:
        try:
            exported = export(model, args, kwargs, dynamic_shapes, caches=caches, returned=returned)
        except CaptureError as error:
            is_for_its_source = _is_for_its_source(error.__cause__) or _has_scripts(model)
            if dynamic_shapes is not None and is_for_its_source:
                error.hint = f"{_OF_FIXED_SIZES}; {error.hint}" if error.hint else _OF_FIXED_SIZES
            if dynamic_shapes is not None or not is_for_its_source:
                raise
            return _from_source(model, args, kwargs, func_name, error)
    warn_of_padding(model, exported.graph)
    reached = Reached(model)
    try:
        with paused_garbage_collection():
            program = import_exported_program(exported, func_name, reached.asked, keeps_state)
    except UnwritableSize as error:
        fewer = without_sizes(exported, args, kwargs, dynamic_shapes, error.symbols)
        if fewer is None:
            raise
        program = captured(
            model, args, kwargs, fewer if len(fewer) else None, func_name, keeps_state
        )
        program.signature.free_sizes = free_sizes(program.signature, args, kwargs, dynamic_shapes)
        return program
    warn_of_texts(exported)
    leaves = pytree.tree_leaves((tuple(args), dict(kwargs)))
    program.signature.flags = flags_of(reached.asked, leaves)
    program.signature.arrangements = arrangements(reached.names)
    with suppress(ValueError, TypeError):  # PyTorch's own functions have no signature
        program.signature.parameters = inspect.signature(getattr(model, "forward", model))
    program.signature.caches = caches
    program.signature.returned = returned
    program.model = model
    numbers = numbers_asked(exported)
    program.reads_elements = numbers.asked
    if numbers.asked:
        written, plain = program.signature.written_state, plain_tensors(exported)
        numbers.check(state.tensor for state in written if state.name in plain)
    if dynamic_shapes is not None:
        program.signature.free_sizes = free_sizes(program.signature, args, kwargs, dynamic_shapes)
    if program.signature.ranges:
        heard = [question.decision() for question in asked.values()]
        if exported.graph_module.meta.get(_BY_BYTECODE):
            heard = [
                Decision(f"{name} >= 2", True, (name,), "", True)
                for name in program.signature.ranges
            ]
        program.signature.decisions[:0] = heard
        program.signature.size_names = size_names(program.signature, args, kwargs, dynamic_shapes)
    return program


def _from_source(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    func_name: str,
    refused: CaptureError,
) -> Program:
    """The program of a model that torch.export refuses, by TorchScript; the refusal with both reasons if that fails."""
    from torch2mlir.frontends.capture_by_source import captured_by_source

    try:
        return captured_by_source(model, args, kwargs, func_name)
    except Exception as error:
        reason = error.message if isinstance(error, Torch2MLIRError) else str(error)
        lines = [line.strip() for line in reason.splitlines() if line.strip()]
        refused.message += "\n  nor TorchScript: " + " ".join(lines[:3])
        raise refused from refused.__cause__


def _is_for_its_source(error: BaseException | None) -> bool:
    """Whether branches and numbers that depend on elements are in the way, which a program can have."""
    if not isinstance(error, Exception):
        return False
    is_number = type(error).__name__ == "DataDependentOutputException"
    return is_number or _may_need_strict(error) or _is_break(error)


def _has_scripts(model: Any) -> bool:
    """Whether parts of a module are TorchScript programs, which torch.export cannot read."""
    parts = model.modules() if isinstance(model, torch.nn.Module) else ()
    return any(isinstance(part, torch.jit.ScriptModule) for part in parts)


def _capture_script(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Program:
    from torch2mlir.frontends.torchscript.example_args import ExampleArgs
    from torch2mlir.frontends.torchscript.script import argument_names, to_script
    from torch2mlir.frontends.torchscript.sizes_that_vary import positional, varying
    from torch2mlir.scripted import script_program

    names = argument_names(model) if kwargs or dynamic_shapes is not None else []
    args = positional(args, kwargs, names) if kwargs else list(args)
    vary = dynamic_shapes is not None
    examples = varying(args, names, dynamic_shapes) if vary else ExampleArgs.get(args)
    script = to_script(model, examples)
    with paused_garbage_collection():
        try:
            program = script_program(script, examples, ignore_traced_shapes=vary)
        except (
            BackendContractError
        ):  # sizes of Dim.AUTO may have to be equal, as torch.export finds out
            again = varying(args, names, dynamic_shapes, compared=True) if vary else examples
            if again.ranges.keys() == examples.ranges.keys():
                raise
            program = script_program(script, again, ignore_traced_shapes=vary)
    _check_example(program, examples.sizes)
    program.model = model
    return program


def _check_example(program: Program, sizes: Mapping[str, int]) -> None:
    """Refuses a TorchScript program that its own example is no call of."""
    for decision in program.signature.decisions:
        if not decision.holds(sizes):
            raise CaptureError(
                f"for sizes that vary '{decision.asked}' is {decision.answer} in the program, and not for its example",
                location=decision.location or None,
                hint="compile it for fixed sizes, or let another dimension vary",
            )


def export(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    strict: bool = False,
    caches: Pairs | None = None,
    returned: dict[int, int] | None = None,
) -> torch.export.ExportedProgram:
    """``torch.export.export`` of a module or a function.

    What the model changes in caches it is given is noted in ``caches``, and which arguments it gives back in
    ``returned``, where the caller has something for it.

    Raises:
        CaptureError: it cannot be exported; with the line of the model and what to do.
    """
    state = model
    if not isinstance(model, torch.nn.Module):
        if not callable(model):
            raise CaptureError(
                f"a {type(model).__name__} is neither a module, a function nor an exported program"
            )
        model = _FunctionModule(model, len(args), list(kwargs))
    check_apart(args, kwargs)
    register_types((args, kwargs))
    if isinstance(dynamic_shapes, torch.export.ShapesCollection):  # it knows tensors by object
        dynamic_shapes = dynamic_shapes.dynamic_shapes(model, tuple(args), dict(kwargs))
    _check_classes(model, (args, kwargs))
    args, kwargs = apart(args, kwargs)
    changes = Changes(state)
    try:
        with ExitStack() as around:
            around.enter_context(quiet())
            if caches is not None and knows_caches():
                around.enter_context(changes_watched(model, caches))
            drawn = list[str]()
            exported = _exported(
                model, args, kwargs, dynamic_shapes, strict, changes, returned, drawn
            )
        if knows_caches() and has_symbols(exported.call_spec.out_spec):
            raise SizesInCaches(
                "a cache counts tokens in Python, of which no program has a number that varies",
                hint="compile it for fixed sizes, or use a StaticCache; torch.compile(model, backend='torch2mlir') "
                "takes the model as it is",
            )
        changes.check(args, kwargs, takes_any_elements(exported.graph_module))
        changes.check_cached(args, kwargs, exported.graph)
        check_generators(drawn, exported)
        if DRAWN in drawn or not CLOCKS.isdisjoint(changes.code_names):
            check_draws(state, args, kwargs)
        return exported
    except Torch2MLIRError:
        raise
    except Exception as error:
        check_arguments(model, args, kwargs)
        raise explained(error, args, lambda: _try(model, args, kwargs)) from error


class SizesInCaches(CaptureError):
    """A cache has a size among its Python values, which other calls have other ones of."""


def _check_classes(model: torch.nn.Module, given: Any) -> None:
    """Refuses tensors whose class says what functions do with them, which a graph of operators leaves out."""
    held = [*model.parameters(), *model.buffers(), *pytree.tree_leaves(given)]
    for tensor in held:
        if isinstance(tensor, torch.Tensor) and overrides_functions(tensor):
            raise CaptureError(
                f"a {type(tensor).__name__} says itself what PyTorch's functions do with it, which no graph has",
                hint="make it a plain tensor with x.as_subclass(torch.Tensor), or leave the model to torch.compile",
            )


def _exported(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    strict: bool,
    changes: Changes,
    returned: dict[int, int] | None,
    drawn: list[str],
) -> torch.export.ExportedProgram:
    """Traced as Python runs; what that refuses is tried with ``strict``, which reads the model's bytecode.

    There ``int(x)``, ``float(x)`` and ``len(x.nonzero())`` are numbers that the program computes. It would read hooks
    with the model, so what they see is looked for in a call on trial.
    """

    dynamic_shapes = beside_others(model, dynamic_shapes)

    @contextmanager
    def watched(is_trial: bool = False) -> Iterator[Seen]:
        """Around a call of the model: what no graph has of it is noted, or refused."""
        with ExitStack() as around:
            around.enter_context(containers_kept(model))
            around.enter_context(draws_noted(model, drawn))
            around.enter_context(results_noted(model, {} if returned is None else returned))
            around.enter_context(unneeded_conversions_left_out())
            around.enter_context(FunctionsThatCheck())
            yield around.enter_context(CallsByLayout(is_trial)).seen

    def traced(export: Callable[..., Any]) -> torch.export.ExportedProgram:
        with ExitStack() as around:
            around.enter_context(python_undone(changes.model))
            if next(model.buffers(), None) is not None:
                around.enter_context(assignments_kept(model))
            around.enter_context(changes.noted(model))
            around.enter_context(PlacesFromTensors())
            numbers = around.enter_context(NumbersOfConstants())
            seen = around.enter_context(watched())
            around.enter_context(RaisedErrors())
            around.enter_context(bounded_sizes())
            around.enter_context(without_looking())
            around.enter_context(numbers_kept_apart())
            texts = around.enter_context(texts_noted())
            around.enter_context(written_constants_forgotten())
            around.enter_context(further_names_beside_others(model, kwargs))
            around.enter_context(python_functions_of_sizes(changes.model))
            exported: torch.export.ExportedProgram = export(
                model, args, kwargs, dynamic_shapes=dynamic_shapes
            )
            check_memory(exported.graph)
            note_seen(exported, seen)
            exported.graph_module.meta |= {NUMBERS: numbers, TEXTS: texts}
            return exported

    def by_bytecode() -> torch.export.ExportedProgram:
        if returned is not None:
            returned.clear()
        with (
            python_undone(changes.model),
            written_constants_forgotten(),
            numbers_kept_apart(),
            further_names_beside_others(model, kwargs),
        ):
            exported = torch.export.export(
                model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=True
            )
        check_memory(exported.graph)
        with watched(is_trial=True) as seen, assignments_refused(model):
            _try(model, args, kwargs)
        note_seen(exported, seen)
        exported.graph_module.meta[_BY_BYTECODE] = True
        return exported

    transforms = TransformsNoted()

    def by_tracing() -> torch.export.ExportedProgram:
        try:
            return traced(torch.export.export)
        except Exception as error:
            if isinstance(error, AttributeError) and is_lost_body(error):
                again = grad_modes_unrecorded()
            elif _may_need_strict(error):
                again = small_constants_known()
            else:
                raise
            first = error
        if returned is not None:
            returned.clear()
        try:
            with again:
                return traced(torch.export.export)
        except Exception as error:
            raise (first if _may_need_strict(first) else error) from None

    try:
        if not strict:
            with transforms:
                exported = by_tracing()
            if not transforms.by_autograd and not has_autocast(exported):
                return exported
    except Exception as error:
        if not transforms.by_autograd and not transforms.have_lost(error):
            if not _may_need_strict(error):
                raise
            try:
                return by_bytecode()
            except Torch2MLIRError:
                raise
            except Exception as second:
                raise (second if _is_break(second) else error) from None
    if not strict:
        if returned is not None:
            returned.clear()
        return traced(exported_below_autograd)
    return by_bytecode()


def _try(model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Calls a model on trial, for those who watch, and whether it runs; why not, its capture says better."""
    try:
        list(repeated(model, [(args, kwargs)]))
    except Torch2MLIRError:
        raise
    except Exception:
        return False
    return True


_OF_FIXED_SIZES = "without dynamic_shapes, branches and loops that depend on elements are read from the model's source"
_BY_BYTECODE = "torch2mlir.by_bytecode"
"""Of a graph module: nobody heard what the model asked of sizes."""


def _may_need_strict(error: Exception) -> bool:
    """Whether numbers that depend on elements are in the way, or something that tracing cannot see through."""
    names = {kind.__name__ for kind in type(error).__mro__}
    words = ("data-dependent", "unbacked", "FakeTensor")
    return bool(names & {"GuardOnDataDependentSymNode"}) or any(w in str(error) for w in words)


def _is_break(error: Exception) -> bool:
    """Whether the bytecode cannot be one graph."""
    return type(error).__name__ == "Unsupported" and "Data-dependent" not in str(error)


class _FunctionModule(Holder):
    """A function as a module, with the function's own parameter names, and the modules it refers to as parts.

    PyTorch records the source lines of frames called ``forward`` only, so ours says it stands where the function does.

    Args:
        function: it.
        count: how many arguments it is given by place.
        named: the names of the others; both for functions of PyTorch's, which have no signature.
    """

    def __init__(self, function: Callable[..., Any], count: int, named: Sequence[str]) -> None:
        super().__init__(referred_modules(function))

        def forward(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        if (code := getattr(function, "__code__", None)) is not None:
            forward.__code__ = forward.__code__.replace(
                co_filename=code.co_filename, co_firstlineno=code.co_firstlineno - 1
            )
        forward.__signature__ = _signature(function, count, named)  # type: ignore[attr-defined]
        self.forward = forward


def _signature(function: Callable[..., Any], count: int, named: Sequence[str]) -> inspect.Signature:
    """That of a function, or of one of PyTorch's, which say nothing, with this many arguments and these names."""
    if not isinstance(function, OperatorBase | OpOverloadPacket):
        with suppress(ValueError):
            return inspect.signature(function)
    kind = inspect.Parameter
    by_place = [kind(f"argument{i}", kind.POSITIONAL_OR_KEYWORD) for i in range(count)]
    return inspect.Signature([*by_place, *(kind(name, kind.KEYWORD_ONLY) for name in named)])
