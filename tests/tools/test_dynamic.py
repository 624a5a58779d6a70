"""What ``--dynamic`` means."""

from __future__ import annotations

import argparse

import pytest

from tests.tools import programs
from torch2mlir.errors import InputError
from torch2mlir.program import Program
from torch2mlir.tools.capture import captured
from torch2mlir.tools.dynamic import EVERYTHING, VaryingDim, dynamic_request
from torch2mlir.tools.progress import Progress
from torch2mlir.tools.source import Source


def _export(request: str | None) -> Program:
    source = Source("two", *programs.two_inputs())
    dynamic = EVERYTHING if request is None else dynamic_request(request)
    return captured(source, dynamic, Progress(quiet=True))


def test_items_have_names_and_ranges() -> None:
    assert dynamic_request("0:0=batch,mask:1=seq:2-512,2:3").items == (
        VaryingDim("0", 0, "batch"),
        VaryingDim("mask", 1, "seq", 2, 512),
        VaryingDim("2", 3),
    )


@pytest.mark.parametrize("text", ["", "0", "0:", "x:y", "0:0=", "0:0=b:3", "0:0=2b"])
def test_other_text_is_wrong_usage(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="INPUT:DIM"):
        dynamic_request(text)


def test_bounds_without_a_size_between_them() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="5 is more than 2"):
        dynamic_request("0:0=b:5-2")


@pytest.mark.parametrize("request_text", [None, "0:0=n:2-9,scale:0=n:2-9", "x:0,1:0"])
def test_a_varying_batch_is_left_open(request_text: str | None) -> None:
    program = _export(request_text)
    assert len(program.signature.ranges) == 1
    if "2-9" in (request_text or ""):
        assert list(program.signature.ranges.values()) == [(2, 9)]


@pytest.mark.parametrize("request_text", ["5:0", "nobody:0", "0:2", "scale:1"])
def test_dimensions_that_cannot_vary_are_refused(request_text: str) -> None:
    with pytest.raises(InputError, match="--dynamic"):
        _export(request_text)
