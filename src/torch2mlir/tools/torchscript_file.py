"""Files of ``torch.jit.save`` as programs of the command line, with the example inputs that belong to them."""

from __future__ import annotations

import argparse
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch2mlir.errors import InputError, ParseError

INPUT_HELP = (
    "an argument of a TorchScript file as sizes and element type, 1x3x224x224xf32 or 2x16xi64; once for each "
    "argument, in their order (default: the inputs bundled with the file)"
)

_INPUT = re.compile(r"(?P<sizes>(\d+x)*)(?P<element>[a-z][\w<>]*)")
_OWN_NAMES = {"i8": "si8", "i16": "si16", "i32": "si32", "i64": "si64"}
"""Integers as MLIR's dialects write them -> as the torch dialect does."""
_BUNDLED = "get_all_bundled_inputs"
"""The method that ``torch.utils.bundled_inputs`` gives a module for its examples."""


@dataclass(frozen=True)
class InputType:
    """A value of ``--input``."""

    sizes: tuple[int, ...]
    element: str

    def example(self) -> Any:
        """Some tensor of this type: standard normal numbers; zeros and ones for integers and booleans.

        Raises:
            InputError: PyTorch has no such element type.
        """
        import torch

        from torch2mlir.frontends.dtypes import FROM_ELEMENT_TYPE

        known = {str(type): dtype for type, dtype in FROM_ELEMENT_TYPE.items()}
        dtype = known.get(_OWN_NAMES.get(self.element, self.element))
        if dtype is None:
            raise InputError(
                f"--input has the unknown element type '{self.element}'",
                hint=f"one of {', '.join(sorted((*known, *_OWN_NAMES)))}",
            )
        if dtype.is_floating_point or dtype.is_complex:
            return torch.randn(self.sizes, dtype=dtype)
        return torch.randint(0, 2, self.sizes).to(dtype)


def input_type(text: str) -> InputType:
    """Parse a value of ``--input``; made for argparse's ``type=``."""
    match = _INPUT.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not like 1x3x224x224xf32")
    sizes = tuple(int(size) for size in match["sizes"].split("x")[:-1])
    return InputType(sizes, match["element"])


def is_torchscript(path: Path) -> bool:
    """Whether a file is an archive of ``torch.jit.save``."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        members = {name.partition("/")[2] for name in archive.namelist()}
    return "constants.pkl" in members and any(name.startswith("code/") for name in members)


def load_torchscript(path: Path, inputs: Sequence[InputType]) -> tuple[Any, tuple[Any, ...]]:
    """The module in a file and example inputs for it: of the types given, or those bundled with it.

    Raises:
        ParseError: PyTorch cannot load the file.
        InputError: nobody says what the inputs are.
    """
    import torch

    try:
        module = torch.jit.load(str(path), map_location="cpu")
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        raise ParseError(
            f"{path} is not a TorchScript program that PyTorch {torch.__version__} can load: {reason}",
            hint="save it with torch.jit.save(torch.jit.script(model), path)",
        ) from error
    if inputs:
        torch.manual_seed(0)
        return module, tuple(each.example() for each in inputs)
    if hasattr(module, _BUNDLED):
        bundled = getattr(module, _BUNDLED)()
        if bundled:
            return module, tuple(bundled[0])
    names = [argument.name for argument in module.forward.schema.arguments][1:]
    raise InputError(
        f"{path} is a TorchScript program, of which the inputs are not known: {', '.join(names)}",
        hint="give --input 1x3x224x224xf32 for each, or bundle examples with torch.utils.bundled_inputs",
    )
