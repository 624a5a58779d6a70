"""The explorer, driven without a terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from torch2mlir.errors import InputError, PassError
from torch2mlir.tools.cli import main
from torch2mlir.tools.explore import make_app

pytest.importorskip("textual")
PROGRAM = f"{Path(__file__).parent / 'programs.py'}:two_inputs"


def explored(app, steps: Callable[..., Awaitable[None]]) -> None:
    async def go() -> None:
        async with app.run_test() as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(go())


def test_passes_are_run_and_taken_back() -> None:
    app = make_app(None, "torch-decompose-complex-ops")

    async def steps(pilot) -> None:
        assert "aten.sigmoid" in app.output_text_area.text
        from torch2mlir.conversion.driver import ConvertTorchToStablehloPass

        app.pass_pipeline = (*app.pass_pipeline, ConvertTorchToStablehloPass())
        await pilot.pause()
        assert "stablehlo.logistic" in app.output_text_area.text
        assert app.get_query_string() == (
            "torch2mlir-opt -pass-pipeline="
            "'builtin.module(torch-decompose-complex-ops,convert-torch-to-stablehlo)'"
        )
        await pilot.click("#clear_passes_button")
        await pilot.pause()
        assert "aten.silu" in app.output_text_area.text

    explored(app, steps)


def test_pipelines_are_unfolded_into_their_passes() -> None:
    app = make_app(None, "torch-backend-to-stablehlo-backend-pipeline")

    async def steps(pilot) -> None:
        before = app.output_text_area.text
        app.action_unfold()
        await pilot.pause()
        assert [each.name for each in app.pass_pipeline] == [
            "torch-refine-types",
            "torch-decompose-complex-ops",
            "torch-canonicalize",
            "convert-torch-to-stablehlo",
        ]
        assert app.output_text_area.text == before

    explored(app, steps)


def test_errors_are_shown_as_diagnostics() -> None:
    app = make_app(None)

    async def steps(pilot) -> None:
        app.input_text_area.load_text("func.func @f() {\n  torch.aten.no_such\n}")
        await pilot.pause()
        assert "input:2:3: error: the operation 'torch.aten.no_such'" in app.output_text_area.text

    explored(app, steps)


def test_files_and_factories(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    file.write_text("func.func @from_a_file() { return }")
    for program, says in ((str(file), "@from_a_file"), (PROGRAM, "torch.aten")):
        app = make_app(program)

        async def steps(pilot, app=app, says=says) -> None:
            assert says in app.output_text_area.text

        explored(app, steps)


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with pytest.raises(InputError, match="no file"):
        make_app(str(tmp_path / "none.mlir"))
    with pytest.raises(PassError, match="no pass"):
        make_app(None, "no-such-pass")
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.delitem(sys.modules, "torch2mlir.tools.explorer", raising=False)
    assert main(["explore"]) == 1
    assert "torch2mlir[explore]" in capsys.readouterr().err
