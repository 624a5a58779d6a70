"""What a model asks of its arguments beside sizes and elements: strides, flags, the order of a dictionary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import torch2mlir

TARGET = {"engine": "reference", "output_type": "linalg-on-tensors"}


def _x() -> Tensor:
    return torch.arange(9.0).reshape(3, 3)


def _tripled_if(asked: Any, x: Tensor) -> Tensor:
    return x * 3 if asked else x * 2


def _inference() -> Tensor:
    with torch.inference_mode():
        return _x()


class Program(NamedTuple):
    """A function of a call's arguments, and two calls that it tells apart."""

    function: Callable[..., Tensor]
    first: Callable[[], tuple[Any, ...]]
    second: Callable[[], tuple[Any, ...]]


PROGRAMS = {
    "is_contiguous": Program(
        lambda x: _tripled_if(x.is_contiguous(), x), lambda: (_x(),), lambda: (_x().t(),)
    ),
    "stride": Program(lambda x: x * x.stride(0), lambda: (_x(),), lambda: (_x().t(),)),
    "storage_offset": Program(
        lambda x: x * (x.storage_offset() + 1),
        lambda: (_x(),),
        lambda: (torch.arange(12.0).reshape(4, 3)[1:],),
    ),
    "requires_grad": Program(
        lambda x: _tripled_if(x.requires_grad, x),
        lambda: (_x(),),
        lambda: (_x().requires_grad_(),),
    ),
    "is_conj": Program(
        lambda x: _tripled_if(x.is_conj(), x),
        lambda: (_x() + 1j,),
        lambda: ((_x() + 1j).conj(),),
    ),
    "is_inference": Program(
        lambda x: _tripled_if(x.is_inference(), x), lambda: (_x(),), lambda: (_inference(),)
    ),
    "untyped_storage": Program(
        lambda x: x * x.untyped_storage().nbytes(),
        lambda: (_x(),),
        lambda: (torch.arange(12.0).reshape(4, 3)[1:],),
    ),
    "by getattr": Program(
        lambda x: _tripled_if(getattr(x, "is_leaf", False), x),
        lambda: (_x(),),
        lambda: (_x().requires_grad_() * 1,),
    ),
    "order of a dictionary": Program(
        lambda of: next(iter(of.values())) * 2,
        lambda: ({"a": _x(), "b": _x() + 1},),
        lambda: ({"b": _x() + 1, "a": _x()},),
    ),
    "type of a list": Program(
        lambda of: _tripled_if(isinstance(of, list), of[0]),
        lambda: ([_x()],),
        lambda: ((_x(),),),
    ),
}


@pytest.mark.share(4)
@torch.no_grad()
@pytest.mark.parametrize("how", ["compile", "optimize"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_other_answers_are_other_programs(name: str, how: str) -> None:
    program = PROGRAMS[name]
    ours: Any = (
        torch2mlir.compile(program.function, *program.first(), **TARGET)
        if how == "compile"
        else torch2mlir.optimize(program.function, model_inputs=program.first())
    )
    for _ in range(2):
        for arguments in (program.first, program.second):
            torch.testing.assert_close(ours(*arguments()), program.function(*arguments()))


def _with(**attributes: Any) -> Tensor:
    x = _x()
    for name, value in attributes.items():
        setattr(x, name, value)
    return x


UNSEEN = {
    "Parameter": Program(
        lambda x: _tripled_if(isinstance(x, torch.nn.Parameter), x),
        lambda: (_x(),),
        lambda: (torch.nn.Parameter(_x(), requires_grad=False),),
    ),
    "grad": Program(
        lambda x: x * 2 if x.grad is None else x * x.grad,
        lambda: (_x(),),
        lambda: (_with(grad=_x()),),
    ),
    "scale": Program(
        lambda x: x * getattr(x, "scale", 2.0), lambda: (_x(),), lambda: (_with(scale=3.0),)
    ),
    "view": Program(
        lambda x: _tripled_if(x._is_view(), x), lambda: (_x() + 0,), lambda: (_x()[:],)
    ),
}
"""What no tensor of a capture is, or has."""


@torch.no_grad()
@pytest.mark.parametrize("name", UNSEEN)
def test_what_tensors_of_a_capture_are_not(name: str) -> None:
    program = UNSEEN[name]
    compiled: Any = torch2mlir.compile(program.function, *program.first(), **TARGET)
    optimized: Any = torch2mlir.optimize(program.function, model_inputs=program.first())
    for ours in (compiled, optimized):
        torch.testing.assert_close(ours(*program.first()), program.function(*program.first()))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="the model's code"):
        compiled(*program.second())
    with pytest.raises(torch2mlir.CaptureError, match=r"torch2mlir\.optimize"):
        torch2mlir.compile(program.function, *program.second(), **TARGET)
    for arguments in (program.second, program.first):
        torch.testing.assert_close(optimized(*arguments()), program.function(*arguments()))
    late: Any = torch2mlir.optimize(program.function, model_inputs=program.second())
    for arguments in (program.second, program.first):
        torch.testing.assert_close(late(*arguments()), program.function(*arguments()))


@torch.no_grad()
def test_names_in_another_order() -> None:
    def first(**of: Tensor) -> Tensor:
        return next(iter(of.values())) * 2

    a, b = _x(), _x() + 1
    compiled = torch2mlir.compile(first, example_kwargs={"a": a, "b": b}, **TARGET)
    for _ in range(2):
        torch.testing.assert_close(compiled(a=a, b=b), a * 2)
        torch.testing.assert_close(compiled(b=b, a=a), b * 2)


@torch.no_grad()
def test_strides_of_sizes_that_vary() -> None:
    def function(x: Tensor) -> Tensor:
        return _tripled_if(x.is_contiguous(), x)

    rows = torch.export.Dim.DYNAMIC
    compiled = torch2mlir.compile(
        function, torch.randn(3, 4), dynamic_shapes=({0: rows, 1: rows},), **TARGET
    )
    for x in (torch.randn(5, 7), torch.randn(7, 5).t(), torch.randn(2, 9), torch.randn(9, 2).t()):
        torch.testing.assert_close(compiled(x), function(x))


@torch.no_grad()
def test_saved_programs_refuse_other_answers(tmp_path: Path) -> None:
    program = PROGRAMS["is_inference"]
    compiled = torch2mlir.compile(program.function, *program.first(), output_type="stablehlo")
    loaded: Any = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "saved"))
    torch.testing.assert_close(loaded(*program.first()), program.function(*program.first()))
    with pytest.raises(torch2mlir.InputError, match="is_inference: it says True, and said False"):
        loaded(*program.second())


class OfAVersion(torch.nn.Module):
    """Asks itself what one may ask tensors, too."""

    _version = 3
    grad = None

    def forward(self, x: Tensor) -> Tensor:
        return _tripled_if(self._version == 3 and self.grad is None, x)


class AsksTensors(OfAVersion):
    def forward(self, x: Tensor) -> Tensor:
        return _tripled_if(self._version == x._version, x)


def _called_self(self: Tensor) -> Tensor:
    return _tripled_if(self._version == 0, self)


def test_a_tensor_may_be_called_self() -> None:
    for function in (_called_self, lambda self: _tripled_if(self._version == 0, self)):
        with pytest.raises(torch2mlir.CaptureError, match="asks for _version"):
            torch2mlir.compile(function, _x().mul_(2), **TARGET)


def test_what_a_model_asks_itself_it_does_not_ask_tensors() -> None:
    written = _x().mul_(2)
    assert torch.equal(torch2mlir.compile(OfAVersion(), written, **TARGET)(written), written * 3)
    with pytest.raises(torch2mlir.CaptureError, match="asks for _version"):
        torch2mlir.compile(AsksTensors(), written, **TARGET)
