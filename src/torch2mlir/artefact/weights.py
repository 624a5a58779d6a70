"""Tensors in a safetensors file whose places in memory engines can read without a copy.

Engines map addresses that are multiples of 64; so the header is padded to that, and between tensors stands as much of
a tensor of zeros as is missing, since the format allows no holes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import torch
from safetensors.torch import _TYPES as _NAMES

from torch2mlir.errors import ArtefactError

_ALIGNMENT = 64
_PADDING = "torch2mlir.padding."
_BY_DTYPE = {dtype: name for name, dtype in _NAMES.items()}
_PARTS = {torch.complex128: torch.float64, torch.complex32: torch.float16}
"""Dtypes the format has no name for, as pairs of their parts."""


def write_tensors(tensors: Mapping[str, torch.Tensor], stream: IO[bytes]) -> None:
    """Writes tensors in the safetensors format, each at a multiple of 64 bytes of the file."""
    header = dict[str, Any]()
    flat = {name: _flat(tensor) for name, tensor in tensors.items()}
    offset, gaps = 0, dict[str, int]()
    for index, (name, (tensor, dtype)) in enumerate(flat.items()):
        end = offset + tensor.numel()
        header[name] = {
            "dtype": _BY_DTYPE[dtype],
            "shape": _shape(tensors[name]),
            "data_offsets": [offset, end],
        }
        gap = gaps[name] = -end % _ALIGNMENT
        if gap:
            header[f"{_PADDING}{index}"] = {
                "dtype": "U8", "shape": [gap], "data_offsets": [end, end + gap],
            }  # fmt: skip
        offset = end + gap
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    stream.write(len(text).to_bytes(8, "little") + text)
    for name, (tensor, _) in flat.items():
        stream.write(tensor.numpy().data)
        stream.write(b"\0" * gaps[name])


def _flat(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.dtype]:
    """A tensor's bytes, and the dtype they are written as."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    dtype = _PARTS.get(tensor.dtype, tensor.dtype)
    if dtype not in _BY_DTYPE:
        raise ArtefactError(f"a weight is of dtype {tensor.dtype}, which safetensors does not have")
    return tensor.reshape(-1).view(torch.uint8), dtype


def _shape(tensor: torch.Tensor) -> list[int]:
    return [*tensor.shape, 2] if tensor.dtype in _PARTS else list(tensor.shape)


def map_tensors(path: Path, dtypes: Mapping[str, torch.dtype]) -> dict[str, torch.Tensor]:
    """The tensors of a file, in memory that is the file's until somebody writes to it.

    Args:
        path: of :func:`write_tensors`.
        dtypes: the dtype of each, for those the format has no name for.

    Raises:
        ArtefactError: it is not such a file.
    """
    size = path.stat().st_size
    try:
        with path.open("rb") as stream:
            start = 8 + int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(start - 8)) if start <= size else None
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise ArtefactError(f"{path} is not a safetensors file")
    if not size:
        return {}
    storage: Any = torch.UntypedStorage.from_file(str(path), False, size)
    found = dict[str, torch.Tensor]()
    for name, entry in header.items():
        if name.startswith(_PADDING) or name == "__metadata__":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        dtype = dtypes.get(name, _NAMES.get(entry["dtype"]))
        if dtype is None or not start <= begin <= end <= size:
            raise ArtefactError(f"{path} is damaged: the tensor '{name}' lies outside of it")
        raw = torch.empty(0, dtype=torch.uint8).set_(storage, begin, (end - begin,), (1,))
        shape = entry["shape"][:-1] if dtype in _PARTS else entry["shape"]
        found[name] = raw.view(dtype).reshape(shape)
    return found
