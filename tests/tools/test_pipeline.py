"""MLIR's textual pass pipelines."""

from __future__ import annotations

import pytest
from xdsl.utils.arg_spec import ArgSpec

from torch2mlir.errors import PassError
from torch2mlir.tools.opt import translated
from torch2mlir.tools.pipeline import parse_pipeline


def test_anchors_are_read_and_dropped() -> None:
    specs = parse_pipeline("builtin.module(a, func.func( b,any(c) ),d)")
    assert [spec.name for spec in specs] == ["a", "b", "c", "d"]


def test_options_of_torch_mlirs_own_scripts() -> None:
    text = (
        "builtin.module(p{backend-legal-ops=aten.foo,torch.bar extra-library= n=4 on flag=false})"
    )
    assert parse_pipeline(text) == (
        ArgSpec(
            "p",
            {
                "backend-legal-ops": ("aten.foo", "torch.bar"),
                "n": (4,),
                "on": (True,),
                "flag": (False,),
            },
        ),
    )


def test_nothing_is_no_pass() -> None:
    assert parse_pipeline("") == parse_pipeline("builtin.module()") == ()


@pytest.mark.parametrize("text", ["a,", "a b", "builtin.module(a", "a{x=1", ")", "a{=1}"])
def test_malformed_pipelines_are_refused(text: str) -> None:
    with pytest.raises(PassError, match="malformed pass pipeline"):
        parse_pipeline(text)


def test_mlir_opt_arguments_become_xdsl_opt_arguments() -> None:
    arguments = ["-one", "--two=x=1 y", "in.mlir", "-split-input-file", "--mlir-print-op-generic"]
    assert translated(arguments, {"one", "two"}) == [
        "in.mlir",
        "--split-input-file",
        "--print-op-generic",
        "--passes",
        "one,two{x=1 y}",
    ]
    assert translated(["-pass-pipeline=builtin.module(one)"], {"one"}) == [
        "--passes",
        "builtin.module(one)",
    ]
