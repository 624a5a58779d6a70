"""Modules of the onnx dialect as ONNX models: protobuf messages, made with the ``onnx`` package.

Weights are not copied: a model refers to them, and only :func:`save_model` writes their bytes, from their own memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from torch2mlir.dialects.locations import describe
from torch2mlir.dialects.onnx import NoValueOp, OnnxOp, YieldOp
from torch2mlir.dialects.onnx.schema import OPSET
from torch2mlir.dialects.weights import TensorSource, WeightAttr
from torch2mlir.errors import Torch2MLIRError
from torch2mlir.files import write_whole

LARGEST_MODEL = (1 << 31) - (1 << 20)
"""The bytes of weights from which on a protobuf message cannot hold them."""
ALIGNMENT = 4096
"""Where a tensor starts in a file of weights: readers map it into memory."""

_ELEMENT_TYPES: dict[type[Attribute], str] = {
    BFloat16Type: "BFLOAT16",
    Float16Type: "FLOAT16",
    Float32Type: "FLOAT",
    Float64Type: "DOUBLE",
}


_DIM_PARAM = re.compile(r"(\d+):(.*?)(?=,\d+:|$)")
"""A dimension and its expression, which may have commas: ``0:batch,1:max(a, b)``."""
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class OnnxModel:
    """A model message, and the tensors in it whose bytes are elsewhere."""

    proto: Any
    weights: list[tuple[Any, TensorSource]] = field(default_factory=list)

    @property
    def weight_bytes(self) -> int:
        """Size of the weights."""
        return sum(source.nbytes for _, source in self.weights)


def onnx_package() -> ModuleType:
    """The ``onnx`` package.

    Raises:
        Torch2MLIRError: it is not installed.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise Torch2MLIRError(
            f"writing an ONNX model needs the package 'onnx': no module named {error.name!r}",
            hint="pip install 'torch2mlir[onnx]'",
        ) from error
    return onnx


def element_type(type: Attribute) -> int:
    """ONNX's number for an element type.

    Raises:
        Torch2MLIRError: ONNX does not have it.
    """
    protos = onnx_package().TensorProto
    name = _ELEMENT_TYPES.get(type.__class__)
    if isinstance(type, IntegerType):
        width = type.width.data
        unsigned = type.signedness.data == Signedness.UNSIGNED
        name = "BOOL" if width == 1 else f"{'U' if unsigned else ''}INT{width}"
    if name is None:
        raise Torch2MLIRError(f"ONNX has no tensors of {type}")
    return int(getattr(protos, name))


def operator_set(function: FuncOp, asked: int = OPSET) -> int:
    """The operator set that a function is written for: the default one, or the first that has all its operators.

    Raises:
        Torch2MLIRError: one that was asked for does not have them.
    """
    for op in function.walk():
        if isinstance(op, OnnxOp) and (first := op.row.versions[0]) > asked:
            if asked != OPSET:
                raise Torch2MLIRError(
                    f"ONNX has {op.row.name} from operator set {first} on, not in {asked}",
                    op=op.name,
                    location=describe(op.location),
                    hint='choose a newer operator set: output_type="onnx" takes what it needs',
                )
            asked = OPSET
            break
    ops = (op for op in function.walk() if isinstance(op, OnnxOp))
    return max([asked, *(op.row.versions[0] for op in ops)])


SIZES_FROM_DATA = "onnx.sizes_from_data"
"""On a function in which elements of a tensor decide sizes, which may be 0 in any call."""


def model_of(
    function: FuncOp,
    constants: Mapping[int, str] | None = None,
    *,
    opset: int = OPSET,
    debuginfo: bool = False,
    size_names: Mapping[str, str] | None = None,
) -> OnnxModel:
    """A function of the onnx dialect as a model.

    Args:
        function: of a module in the onnx dialect, converted or read from text.
        constants: arguments, by position, that become initializers of these names, their bytes elsewhere; those
            that are not read are left out.
        opset: the operator set; the default one gives way to a newer one where the function needs that.
        debuginfo: whether every node says which source line it comes from.
        size_names: of the symbols of sizes, those that ``dim_param`` has in their place.

    Raises:
        Torch2MLIRError: the ``onnx`` package is missing, the function has ops of other dialects, or an operator is
            newer than the operator set.
    """
    writer = _Writer(operator_set(function, opset), debuginfo, size_names or {})
    return writer.write(function, constants or {})


class _Writer:
    """Writes one model; values are named in order."""

    def __init__(self, opset: int, debuginfo: bool, size_names: Mapping[str, str]) -> None:
        self.debuginfo = debuginfo
        self.size_names = size_names
        self.onnx = onnx_package()
        self.opset = opset
        self.names: dict[SSAValue, str] = {}
        self.reserved: dict[SSAValue, str] = {}
        """The names of results that a graph returns."""
        self.taken = set[str]()
        self.numbers = count()
        self.model = OnnxModel(self.onnx.ModelProto())
        self.graph = self.model.proto.graph

    def write(self, function: FuncOp, constants: Mapping[int, str]) -> OnnxModel:
        """The whole model."""
        proto = self.model.proto
        proto.producer_name = "torch2mlir"
        proto.opset_import.add(domain="", version=self.opset)
        proto.ir_version = self.onnx.helper.find_min_ir_version_for(proto.opset_import)
        self.graph.name = function.sym_name.data
        block = function.body.block
        notes = _notes(function.arg_attrs, len(block.args))
        for position, (argument, note) in enumerate(zip(block.args, notes, strict=True)):
            if position in constants:
                if argument.first_use is not None:
                    self._external(argument, constants[position])
                continue
            name = note.get("onnx.name") or argument.name_hint or f"input_{position}"
            self._value_info(self.graph.input, argument.type, self._name(argument, name), note)
        number = len(function.function_type.outputs)
        notes = _notes(function.res_attrs, number)
        names = [
            note.get("onnx.name") or ("output" if number == 1 else f"output_{index}")
            for index, note in enumerate(notes)
        ]
        outputs = self._outputs(block, names)
        self._body(self.graph, block)
        self._finish(self.graph, outputs, notes)
        return self.model

    def _name(self, value: SSAValue, wanted: str) -> str:
        name = wanted
        while name in self.taken:
            name = f"{wanted}_{next(self.numbers)}"
        self.taken.add(name)
        self.names[value] = name
        return name

    def _result(self, value: SSAValue, wanted: str) -> str:
        if value in self.reserved:
            self.names[value] = self.reserved[value]
            return self.reserved[value]
        return self._name(value, wanted)

    def _value_info(self, infos: Any, type: Attribute, name: str, note: Mapping[str, str]) -> None:
        assert isinstance(type, TensorType)
        tensor = infos.add(name=name).type.tensor_type
        tensor.elem_type = element_type(type.element_type)
        varying = dict(_DIM_PARAM.findall(note.get("onnx.dim_params", "")))
        shape = tensor.shape  # there even if it has no dimensions
        shape.SetInParent()
        for index, size in enumerate(type.get_shape()):
            dim = shape.dim.add()
            if size >= 0:
                dim.dim_value = size
            elif str(index) in varying:
                dim.dim_param = _WORD.sub(
                    lambda word: self.size_names.get(word[0], word[0]), varying[str(index)]
                )

    def _outputs(self, block: Block, wanted: Sequence[str]) -> list[tuple[SSAValue, str]]:
        """What a graph returns, under which names; the first use of an operator's result takes the name itself."""
        pairs = []
        for value, name in zip(
            block.last_op.operands if block.last_op else (), wanted, strict=True
        ):
            while name in self.taken:
                name = f"{name}_{next(self.numbers)}"
            self.taken.add(name)
            owner = value.owner
            is_made_here = isinstance(owner, OnnxOp) and owner.parent is block
            if is_made_here and owner.name != "onnx.Constant":  # type: ignore[union-attr]
                self.reserved.setdefault(value, name)
            pairs.append((value, name))
        return pairs

    def _finish(
        self,
        graph: Any,
        outputs: Sequence[tuple[SSAValue, str]],
        notes: Sequence[Mapping[str, str]],
    ) -> None:
        """The outputs of a graph, which a node of that graph has to make."""
        for (value, name), note in zip(outputs, notes, strict=True):
            if self.names[value] != name:
                graph.node.add(op_type="Identity", input=[self.names[value]], output=[name])
            self._value_info(graph.output, value.type, name, note)

    # what a graph is made of

    def _body(self, graph: Any, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, ReturnOp | YieldOp):
                continue
            if isinstance(op, NoValueOp):
                self.names[op.results[0]] = ""
            elif not isinstance(op, OnnxOp):
                raise Torch2MLIRError(
                    "a model is made of the onnx dialect's ops alone",
                    op=op.name,
                    location=describe(op.location),
                    hint="lower the program to output_type='onnx' first",
                )
            elif op.name == "onnx.Constant":
                self._constant(op)
            else:
                self._node(graph, op)

    def _node(self, graph: Any, op: OnnxOp) -> None:
        inputs = [self.names[operand] for operand in op.operands]
        outputs = [
            self._result(result, f"{op.row.name}_{next(self.numbers)}") for result in op.results
        ]
        node = graph.node.add(op_type=op.row.name, input=inputs, output=outputs, name=outputs[0])
        if self.debuginfo and (place := describe(op.location)) is not None:
            node.doc_string = place
        for name, value in op.properties.items():
            self._attribute(node.attribute.add(name=name), value)
        for name, region in zip(op.row.graphs, op.regions, strict=True):
            attribute = node.attribute.add(name=name, type=self.onnx.AttributeProto.GRAPH)
            self._subgraph(attribute.g, name, region.block)

    def _subgraph(self, graph: Any, name: str, block: Block) -> None:
        graph.name = f"{name}_{next(self.numbers)}"
        for argument in block.args:
            self._value_info(
                graph.input, argument.type, self._name(argument, f"in_{next(self.numbers)}"), {}
            )
        number = len(block.last_op.operands) if block.last_op else 0
        outputs = self._outputs(block, [f"out_{next(self.numbers)}" for _ in range(number)])
        self._body(graph, block)
        self._finish(graph, outputs, [{}] * number)

    def _attribute(self, attribute: Any, value: Attribute) -> None:
        kinds = self.onnx.AttributeProto
        match value:
            case IntegerAttr():
                attribute.type, attribute.i = kinds.INT, value.value.data
            case FloatAttr():
                attribute.type, attribute.f = kinds.FLOAT, value.value.data
            case StringAttr():
                attribute.type, attribute.s = kinds.STRING, value.data.encode()
            case ArrayAttr():
                self._list(attribute, value.data)
            case DenseIntOrFPElementsAttr():
                attribute.type = kinds.TENSOR
                self._literal(attribute.t, value)
            case _:
                attribute.type, attribute.i = kinds.INT, element_type(value)

    def _list(self, attribute: Any, values: Sequence[Any]) -> None:
        kinds = self.onnx.AttributeProto
        if all(isinstance(value, IntegerAttr) for value in values):
            attribute.type = kinds.INTS
            attribute.ints.extend(value.value.data for value in values)
        else:
            attribute.type = kinds.FLOATS
            attribute.floats.extend(value.value.data for value in values)

    # constants

    def _constant(self, op: Operation) -> None:
        value = op.properties["value"]
        result = op.results[0]
        if isinstance(value, WeightAttr):
            tensor = self._external(result, value.source.data.name)
            self.model.weights.append((tensor, value.source.data))
        else:
            tensor = self.graph.initializer.add(
                name=self._name(result, f"constant_{next(self.numbers)}")
            )
            self._literal(tensor, value)

    def _external(self, value: SSAValue, name: str) -> Any:
        """An initializer whose bytes are elsewhere."""
        type: Any = value.type
        tensor = self.graph.initializer.add(name=self._name(value, name))
        tensor.data_type = element_type(type.element_type)
        tensor.dims.extend(type.get_shape())
        tensor.data_location = self.onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        return tensor

    def _literal(self, tensor: Any, value: Any) -> None:
        type = value.type
        tensor.data_type = element_type(type.element_type)
        tensor.dims.extend(type.get_shape())
        if type.element_type == IntegerType(1):
            elements = bytes(int(bool(element)) for element in value.get_values())
        else:
            elements = value.data.data
        number, stored = prod(type.get_shape()), len(value)
        tensor.raw_data = elements if stored == number else elements * number


def _notes(attributes: Any, size: int) -> list[dict[str, str]]:
    """What a function's attributes say of its arguments or results."""
    if not isinstance(attributes, ArrayAttr):
        return [{}] * size
    return [
        {key: v.data for key, v in row.data.items() if isinstance(v, StringAttr)}
        if isinstance(row, DictionaryAttr)
        else {}
        for row in attributes.data
    ]


# files


def save_model(model: OnnxModel, path: str | os.PathLike[str], external: bool) -> list[Path]:
    """Writes a model; external weights go into ``path`` with ``.data`` behind, piece by piece from their memory.

    Returns what was written. The files appear complete or not at all.

    Raises:
        Torch2MLIRError: the weights are too large for the file itself.
        InputError: a file cannot be written.
    """
    target = Path(path)
    if not external:
        if model.weight_bytes > LARGEST_MODEL:
            raise Torch2MLIRError(
                f"{model.weight_bytes} bytes of weights do not fit into an ONNX file, which ends at 2 GB",
                hint='write them beside it with weights="external"',
            )
        for tensor, source in model.weights:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = bytes(source.view())
        write_whole(target, lambda stream: stream.write(model.proto.SerializeToString()))
        return [target]
    data = target.with_name(target.name + ".data")
    place_weights(model, data.name)
    if model.weights:
        write_whole(data, lambda stream: stream.writelines(_padded(model.weights)))
    write_whole(target, lambda stream: stream.write(model.proto.SerializeToString()))
    return [target, data] if model.weights else [target]


def place_weights(model: OnnxModel, location: str) -> None:
    """Says in the model where in a file each weight is."""
    offset = 0
    for tensor, source in model.weights:
        tensor.ClearField("external_data")
        entries = {"location": location, "offset": str(offset), "length": str(source.nbytes)}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        offset += source.nbytes + -source.nbytes % ALIGNMENT


def _padded(weights: Sequence[tuple[Any, TensorSource]]) -> Any:
    for _, source in weights:
        yield source.view()
        yield bytes(-source.nbytes % ALIGNMENT)
