"""A request of OpenVINO's: how tensors get into a call of its, and out of it.

A request reads and writes PyTorch's memory where that is lent to it, which takes 40 us for one argument and one result.
Small ones of known shape are copied into memory that the request has of its own, and out of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import torch

from torch2mlir.runtime.lowered import TensorSpec
from torch2mlir.runtime.openvino_import import openvino as ov

_BY_BITS = {
    torch.bfloat16: (torch.int16, ov.Type.bf16),
    torch.bool: (torch.uint8, ov.Type.boolean),
}
"""Dtypes that NumPy does not have, or OpenVINO reads as another: a view of them, and OpenVINO's type."""
_NOT_NUMPYS = tuple(type for _, type in _BY_BITS.values())
SMALL = 1 << 16
"""Bytes of a tensor that is copied sooner than lent."""
_ON_ONE_THREAD = 1 << 12
"""Of how many numbers NumPy's product takes no second thread."""


class Request:
    """One call at a time of a compiled model.

    Args:
        compiled: the model.
        names: of its inputs.
        results: what it returns.
    """

    def __init__(self, compiled: Any, names: Iterable[str], results: Sequence[TensorSpec]) -> None:
        self._request: Any = compiled.create_infer_request()
        # what OpenVINO's Python class adds copies every result, and takes 7 us
        self._infer: Any = super(ov.InferRequest, self._request).infer  # type: ignore[misc]
        self._results = results
        self._inputs = {name: self._own(compiled.input(name)) for name in names}
        self._outputs = [self._own(compiled.output(index)) for index in range(len(results))]

    def _own(self, port: Any) -> torch.Tensor | None:
        """The request's memory for a small tensor of known shape; None for another one."""
        if port.partial_shape.is_dynamic or port.element_type in _NOT_NUMPYS:
            return None
        tensor = self._request.get_tensor(port)
        return torch.from_numpy(tensor.data) if 0 < tensor.byte_size <= SMALL else None

    def copied(self, name: str, dense: torch.Tensor) -> Any:
        """An argument for the next call as the request has it, an array; None if it has to be lent."""
        if (own := self._inputs[name]) is None:
            return None
        own.copy_(dense)
        return own.numpy()

    def give_lent(self, name: str, tensor: Any) -> Any:
        """An argument for the next call, which has to live until that has run."""
        self._request.set_tensor(name, tensor)
        return tensor

    def run(self) -> list[torch.Tensor]:
        """The results, in memory of PyTorch's."""
        bound = [self._bound(index) for index in range(len(self._results))]
        self._infer({}, share_outputs=True, decode_strings=False)
        return [
            self._read(index) if result is None else result for index, result in enumerate(bound)
        ]

    def _bound(self, index: int) -> torch.Tensor | None:
        """PyTorch's memory for a result of known shape, which the request writes to; None of one that is copied."""
        spec = self._results[index]
        if not spec.is_static or 0 in spec.shape or self._outputs[index] is not None:
            return None
        result = torch.empty(spec.shape, dtype=spec.dtype)  # type: ignore[arg-type]
        self._request.set_output_tensor(index, lent(result))
        return result

    def _read(self, index: int) -> torch.Tensor:
        """A copy of a result that the request has written to memory of its own."""
        if (own := self._outputs[index]) is not None:
            return own.clone()
        spec, found = self._results[index], self._request.get_output_tensor(index)
        result = torch.empty(list(found.shape), dtype=spec.dtype)
        if result.numel():
            found.copy_to(lent(result))
        return result


def lent(tensor: torch.Tensor) -> Any:
    """A dense tensor's memory as OpenVINO's tensor."""
    view, type = _BY_BITS.get(tensor.dtype, (None, None))
    if view is None:
        return ov.Tensor(tensor.numpy(), shared_memory=True)
    return ov.Tensor(tensor.view(view).numpy(), ov.Shape(list(tensor.shape)), type)


def has_nan(values: Any) -> bool:
    """Whether there is a NaN among floats, an array of NumPy's.

    By NumPy, on this thread alone: after a parallel loop of PyTorch's its threads wait for the next one at full speed,
    on the cores that OpenVINO is about to use. MobileNet-v2 took twice as long.
    """
    # squares are at least 0: no sum of theirs is a NaN but that of one
    found = numpy.vdot(values, values) if values.size <= _ON_ONE_THREAD else values.min()
    return bool(found != found)
