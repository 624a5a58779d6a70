"""Inputs for a run: the program's own examples, random ones of the same kind, or a saved file."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch2mlir.errors import InputError
from torch2mlir.tools.dynamic import named_inputs
from torch2mlir.tools.source import Source

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


def example_inputs(source: Source) -> Inputs:
    """The inputs that came with the program; random ones for a file saved without them."""
    if source.args or source.kwargs or not source.is_exported:
        return source.args, source.kwargs
    from torch.utils._pytree import tree_unflatten

    exported = source.model
    leaves = [
        node.meta["val"] for node in exported.graph.nodes if node.name in _user_inputs(exported)
    ]
    args, kwargs = tree_unflatten(
        [_random_like(leaf) for leaf in leaves], exported.call_spec.in_spec
    )
    return tuple(args), dict(kwargs)


def random_inputs(source: Source, seed: int) -> Inputs:
    """Random values with the shapes, dtypes and, for integers, range of the example inputs."""
    import torch
    from torch.utils._pytree import tree_map

    torch.manual_seed(seed)
    args, kwargs = tree_map(_random_like, example_inputs(source))
    return args, kwargs


def saved_inputs(source: Source, path: Path) -> Inputs:
    """Inputs from ``.npz``, ``.safetensors`` or ``.pt``.

    Names in the file are parameter names of the model; arrays without one (``arr_0``) and tuples
    go by position.

    Raises:
        InputError: the file is missing or is of none of these kinds, or the names do not fit.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        values = _read(path)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not isinstance(values, Mapping):
        return tuple(values), {}
    if all(name.startswith("arr_") for name in values):
        return tuple(values[name] for name in sorted(values, key=_number)), {}
    expected = list(named_inputs(source))
    if not source.is_exported and expected and set(values) - set(expected):
        raise InputError(
            f"{path} holds {', '.join(values)}",
            hint=f"name the arrays after the model's inputs: {', '.join(expected)}",
        )
    positional = expected[: len(source.args)]
    if not set(positional) <= set(values):
        return (), dict(values)
    keywords = {name: value for name, value in values.items() if name not in positional}
    return tuple(values[name] for name in positional), keywords


def _read(path: Path) -> Any:
    import torch

    match path.suffix:
        case ".npz":
            import numpy

            if not zipfile.is_zipfile(path):
                raise InputError(f"{path} is not an .npz file")
            with numpy.load(path) as arrays:
                return {name: torch.from_numpy(array) for name, array in arrays.items()}
        case ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        case ".pt" | ".pth":
            loaded = torch.load(path, weights_only=True)
            return (loaded,) if isinstance(loaded, torch.Tensor) else loaded
        case _:
            raise InputError(f"{path}: inputs are read from .npz, .safetensors or .pt files")


def _number(name: str) -> int:
    return int(name.removeprefix("arr_"))


def _user_inputs(exported: Any) -> set[str]:
    return set(exported.graph_signature.user_inputs)


def _random_like(value: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    shape = [_concrete(size) for size in value.shape]
    if value.dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return torch.randn(shape, dtype=value.dtype)
    low, high = _range(value)
    return torch.randint(low, high + 1, shape, dtype=value.dtype)


def _concrete(size: Any) -> int:
    """An int for a dimension; a symbolic one takes the size it was exported with."""
    return size if isinstance(size, int) else int(size.node.hint or 2)


def _range(value: Any) -> tuple[int, int]:
    from torch._subclasses.fake_tensor import FakeTensor

    if isinstance(value, FakeTensor) or value.numel() == 0:
        return 0, 1
    return int(value.min()), int(value.max())
