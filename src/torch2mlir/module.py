"""A lowered program as people keep it: MLIR text or bytecode, and a file of weights beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp

from torch2mlir import __version__
from torch2mlir.contract.target import BEFORE_TARGETS, get_target
from torch2mlir.dialects.bytecode import BYTECODE_SUFFIX, Piece, bytecode_pieces
from torch2mlir.dialects.onnx.schema import OPSETS
from torch2mlir.dialects.printer import WeightSyntax, module_text, weights_of, write_module
from torch2mlir.errors import InputError, Torch2MLIRError
from torch2mlir.files import path_of, replace_whole, write_whole
from torch2mlir.frontends.weights import TorchSource
from torch2mlir.garbage import older_objects_left_alone
from torch2mlir.program import Program, entry_function

if TYPE_CHECKING:
    from torch2mlir.dialects.onnx.model import OnnxModel

_WEIGHTS_SUFFIX = ".safetensors"
_WRITTEN_BY = "torch2mlir"
"""Among the metadata of a file of weights, with the version."""


@dataclass
class MlirModule:
    """A lowered program: ``str(m)`` is its MLIR text, ``m.bytecode()`` its bytecode, ``m.save(path)`` writes either.

    Attributes:
        program: the module and its calling convention.
        weights: ``inline``, ``external`` or ``arguments``.
    """

    program: Program
    weights: str = "inline"

    @property
    def operation(self) -> ModuleOp:
        """The xDSL module."""
        return self.program.module

    @property
    def output_type(self) -> str:
        """The dialect of the module."""
        return self.program.output_type

    def _syntax(self) -> WeightSyntax:
        if self.weights == "external":
            return WeightSyntax.REFERENCE
        if self.output_type in BEFORE_TARGETS:
            return WeightSyntax.RESOURCE
        return get_target(self.output_type).weight_syntax

    def _generic(self, asked: bool | None) -> bool:
        if asked is not None or self.output_type in BEFORE_TARGETS:
            return bool(asked)
        return get_target(self.output_type).generic

    def __str__(self) -> str:
        return self.text()

    @older_objects_left_alone()
    def text(self, *, generic: bool | None = None, debuginfo: bool = False) -> str:
        """The MLIR text.

        Args:
            generic: the form every MLIR version reads, instead of the usual one; by default as the target says.
            debuginfo: with source locations.
        """
        return module_text(
            self.operation,
            weights=self._syntax(),
            generic=self._generic(generic),
            debuginfo=debuginfo,
        )

    @older_objects_left_alone()
    def bytecode(self, *, debuginfo: bool = False) -> bytes:
        """The program as MLIR bytecode, which MLIR's tools and ``ir.Module.parse`` take in the place of text.

        Weights are bytes in it, where text has two digits for each. Saved to a file they are not copied at all.

        Args:
            debuginfo: with source locations.
        """
        return b"".join(self._bytecode_pieces(debuginfo))

    def _bytecode_pieces(self, debuginfo: bool) -> Iterator[Piece]:
        return bytecode_pieces(self.operation, weights=self._syntax(), debuginfo=debuginfo)

    def named_weights(self) -> dict[str, torch.Tensor]:
        """The weights that are not in the text, by the name the text (or the argument) has."""
        if self.weights == "external":
            return {
                s.name: s.tensor for s in weights_of(self.operation) if isinstance(s, TorchSource)
            }
        if self.weights == "arguments":
            return {s.name: s.tensor for s in self.program.signature.state_inputs}
        return {}

    @older_objects_left_alone()
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        generic: bool | None = None,
        debuginfo: bool = False,
    ) -> list[Path]:
        """Writes the text, and weights outside it to a file beside it: ``model.safetensors`` for ``model.mlir``.

        A path that ends in ``.mlirbc`` gets MLIR bytecode, one that ends in ``.onnx`` an ONNX model of a program in
        that dialect, external weights in a file beside it. The files appear complete or not at all.

        Args:
            path: of the file.
            generic: of text, as :meth:`text` has it; bytecode has no other form.
            debuginfo: with source locations.

        Returns:
            What was written.

        Raises:
            InputError: the folder does not exist, or there is a file of other tensors where the weights go.
        """
        target = path_of(path)
        if target.suffix == ".onnx":
            from torch2mlir.dialects.onnx.model import save_model

            return save_model(self._onnx(debuginfo), target, external=self.weights == "external")
        written, beside = [target], _weights_beside(target)
        if self.named_weights():
            _check_replaceable(beside)

        def write(stream: IO[bytes]) -> None:
            if target.suffix == BYTECODE_SUFFIX:
                stream.writelines(self._bytecode_pieces(debuginfo))
            else:
                self._write_text(stream, generic, debuginfo)
            if weights := self.named_weights():
                written.append(beside)
                _save_weights(weights, beside)

        write_whole(target, write)
        return written

    def _write_text(self, stream: IO[bytes], generic: bool | None, debuginfo: bool) -> None:
        text = TextIOWrapper(stream, encoding="utf-8", newline="\n")
        write_module(
            self.operation,
            text,
            weights=self._syntax(),
            generic=self._generic(generic),
            debuginfo=debuginfo,
        )
        text.detach()  # what it holds is written, the file stays open

    def onnx_model(self) -> Any:
        """The ``onnx.ModelProto`` of a program in the onnx dialect; its weights are references until it is saved.

        Raises:
            Torch2MLIRError: the program is in another dialect, or the package ``onnx`` is not installed.
        """
        return self._onnx().proto

    def _onnx(self, debuginfo: bool = False) -> OnnxModel:
        from torch2mlir.dialects.onnx.model import model_of

        opset = OPSETS.get(self.output_type)
        if opset is None:
            raise Torch2MLIRError(
                f"an ONNX model is made of the onnx dialect, not of '{self.output_type}'",
                hint='lower the program with output_type="onnx"',
            )
        function = entry_function(self.operation, self.program.func_name)
        signature = self.program.signature
        names = {s: n for s, n in signature.size_names.items() if n not in signature.ranges}
        return model_of(function, opset=opset, debuginfo=debuginfo, size_names=names)


def _weights_beside(target: Path) -> Path:
    is_ours = target.suffix in (".mlir", BYTECODE_SUFFIX)
    return target.with_name((target.stem if is_ours else target.name) + _WEIGHTS_SUFFIX)


def _check_replaceable(target: Path) -> None:
    """Refuses to write weights in the place of tensors of others, as a checkpoint of the model."""
    from safetensors import SafetensorError, safe_open

    if not target.exists():
        return
    with suppress(SafetensorError, OSError), safe_open(target, "pt") as there:
        if _WRITTEN_BY in (there.metadata() or {}):
            return
    raise InputError(
        f"{target} is there, and it is not from torch2mlir: the weights would replace it",
        hint="remove it, or give the program another name",
    )


def _save_weights(weights: Mapping[str, torch.Tensor], target: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    from torch2mlir.frontends.weights import is_fake

    seen, distinct = set[int](), dict[str, torch.Tensor]()
    for name, tensor in weights.items():
        if is_fake(tensor):
            continue  # a program of shapes only: the references stay, the elements are the user's to bring
        tensor = tensor.detach().contiguous()
        storage = tensor.untyped_storage().data_ptr()
        distinct[name] = tensor.clone() if storage in seen else tensor
        seen.add(storage)
    try:
        replace_whole(
            target, lambda aside: save_file(distinct, aside, metadata={_WRITTEN_BY: __version__})
        )
    except SafetensorError as error:
        raise InputError(f"{target} cannot be written: {error}") from error
