"""Artefacts: what was compiled runs in another process, and what is not what was saved is refused."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

import torch2mlir
from torch2mlir.artefact import weights
from torch2mlir.errors import ArtefactError, InputError
from torch2mlir.tools.cli import main

ENGINES = [("xla", "stablehlo"), ("iree", "linalg-on-tensors"), ("reference", "linalg-on-tensors")]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.norm = nn.BatchNorm1d(16)
        self.second = nn.Linear(16, 4)
        self.tied = self.second.weight

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        hidden = torch.relu(self.norm(self.first(x)))
        return {"logits": self.second(hidden), "scores": [hidden.sum(1), hidden @ self.tied.t()]}


def check(loaded: Callable[..., Any], model: nn.Module, *shapes: tuple[int, ...]) -> None:
    for shape in shapes:
        x = torch.randn(shape)
        with torch.no_grad():
            torch.testing.assert_close(loaded(x), model(x))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Path]:
    model = Model().eval()
    compiled = torch2mlir.compile(model, torch.randn(3, 8), engine="xla")
    return model, torch2mlir.save(compiled, tmp_path_factory.mktemp("artefact") / "model")


@pytest.mark.share(4)
@pytest.mark.parametrize(("engine", "output_type"), ENGINES)
def test_what_is_loaded_computes_what_was_saved(
    engine: str, output_type: str, tmp_path: Path
) -> None:
    model = Model().eval()
    compiled = torch2mlir.compile(model, torch.randn(3, 8), engine=engine, output_type=output_type)
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "a"))
    check(loaded, model, (3, 8), (3, 8), (3, 8))
    with pytest.raises(torch2mlir.InputError, match="size 3"):
        loaded(torch.randn(4, 8))
    with pytest.raises(torch2mlir.InputError, match="float32"):
        loaded(torch.randn(3, 8, dtype=torch.float64))


def test_it_runs_without_the_model_and_without_tracing(
    saved: tuple[nn.Module, Path], tmp_path: Path
) -> None:
    model, directory = saved
    x = torch.randn(3, 8)
    with torch.no_grad():
        torch.save((x, model(x)), tmp_path / "expected.pt")
    code = (
        "import sys, torch, torch2mlir\n"
        "loaded = torch2mlir.load(sys.argv[1])\n"
        "x, expected = torch.load(sys.argv[2])\n"
        "torch.testing.assert_close(loaded(x), expected)\n"
        "modules = ('torch2mlir.transforms', 'torch2mlir.hybrid', 'torch2mlir.pipeline', 'tests')\n"
        "print([name for name in sys.modules if name.startswith(modules)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(directory), str(tmp_path / "expected.pt")],
        capture_output=True, text=True, check=False,

    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


@pytest.mark.share(2)
@pytest.mark.parametrize(("engine", "output_type"), ENGINES[:2])
def test_sizes_that_vary(engine: str, output_type: str, tmp_path: Path) -> None:
    model = Model().eval()
    batch = torch.export.Dim("batch", min=2, max=64)
    compiled = torch2mlir.compile(
        model, torch.randn(3, 8), engine=engine, output_type=output_type,
        dynamic_shapes=({0: batch},),
    )  # fmt: skip
    if engine == "xla":
        with pytest.raises(ArtefactError, match="nothing is compiled yet"):
            torch2mlir.save(compiled, tmp_path / "a")
        compiled.compile_like(torch.randn(3, 8))
        compiled.compile_like(torch.randn(5, 8))
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "a"))
    check(loaded, model, (3, 8), (5, 8))
    if engine == "xla":
        with pytest.raises(torch2mlir.InputError, match=r"no code for the sizes .*=7"):
            loaded(torch.randn(7, 8))
    else:
        check(loaded, model, (7, 8))
    with pytest.raises(torch2mlir.InputError, match="range 2 to 64"):
        loaded(torch.randn(65, 8))


def test_buffers_random_numbers_and_arguments_that_are_written(tmp_path: Path) -> None:
    class Stateful(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x: torch.Tensor, scale: int = 2) -> tuple[torch.Tensor, int]:
            self.count.add_(x)
            x.mul_(scale)
            return self.count * 1 + torch.rand(3), scale

    model = Stateful()
    compiled = torch2mlir.compile(model, torch.ones(3))
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "a"))
    for call in (1, 2, 3):
        x = torch.full((3,), 1.0)
        torch.manual_seed(call)
        value, scale = loaded(x)
        torch.manual_seed(call)
        assert torch.equal(value, compiled(torch.ones(3))[0])
        assert (x == 2).all() and scale == 2
        assert (value >= call).all() and (value < call + 1).all()
    assert not torch2mlir.load(tmp_path / "a")(torch.zeros(3))[0].ge(1).any()


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


def test_dtypes_and_structures(tmp_path: Path) -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("low", torch.randn(3, dtype=torch.bfloat16))
            self.register_buffer("wide", torch.randn(3, dtype=torch.complex128))
            self.register_buffer("flags", torch.tensor([True, False, True]))
            self.register_buffer("none", torch.empty(0, 3))

        def forward(self, x: torch.Tensor) -> Any:
            wide = (self.wide * x.to(torch.complex128)).real
            flags = torch.where(self.flags, x, -x)
            return Pair(self.low + x.to(torch.bfloat16), {"wide": wide, "more": [flags, None]}), (
                torch.cat([self.none, x[None]])
            )

    model = Mixed()
    compiled = torch2mlir.compile(model, torch.randn(3))
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "a"))
    for _ in range(3):
        x = torch.randn(3)
        (left, right), more = loaded(x)
        expected, expected_more = model(x)
        torch.testing.assert_close((left, right, more), (*expected, expected_more))


def test_weights_are_plain_safetensors_mapped_where_they_lie(
    saved: tuple[nn.Module, Path],
) -> None:
    _, directory = saved
    tensors = load_file(directory / "weights.safetensors")
    assert any(not name.startswith("torch2mlir.padding") for name in tensors)
    loaded: Any = torch2mlir.load(directory)
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert "weights.safetensors" in maps.read_text()
    for program in loaded._programs.values():
        for held in (*program.weights, *program.prepared):
            assert held.pointer % 64 == 0 and held.shares_memory


def _damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _edit(key: str, value: Any) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        data = json.loads(path.read_text())
        place = data
        *where, last = key.split(".")
        for name in where:
            place = place[name]
        place[last] = value
        path.write_text(json.dumps(data))

    return edit


def _leave_out(path: Path, key: str) -> None:
    data = json.loads(path.read_text())
    del data[key]
    path.write_text(json.dumps(data))


def _name_a_file_outside(path: Path) -> None:
    data = json.loads(path.read_text())
    data["files"]["../outside"] = {"bytes": 1, "sha256": ""}
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("file", "harm", "message"),
    [
        ("code/0.bin", _damage, "damaged"),
        ("code/0.bin", _truncate, "bytes where"),
        ("code/0.bin", Path.unlink, "missing"),
        ("weights.safetensors", _damage, "damaged"),
        ("weights.safetensors", _truncate, "bytes where"),
        ("signature.json", _damage, "damaged"),
        ("manifest.json", _truncate, "cannot be read"),
        ("manifest.json", Path.unlink, "no manifest.json"),
        ("manifest.json", _edit("format", "onnx"), "not the manifest"),
        ("manifest.json", _edit("format_version", 99), "format 99"),
        ("manifest.json", _edit("engine.version", "jaxlib 0.1"), "compiled by xla 'jaxlib 0.1'"),
        ("manifest.json", _edit("machine.architecture", "vax"), "compiled for vax"),
        ("manifest.json", _edit("machine.features", ["avx9000"]), "avx9000"),
        ("manifest.json", _edit("kind", "other"), "unknown kind"),
        ("manifest.json", _edit("kind", ["compiled"]), "'kind' is a list"),
        ("manifest.json", _edit("engine", "xla"), "'engine' is a str"),
        ("manifest.json", _edit("machine", []), "'machine' is a list"),
        ("manifest.json", _edit("dialect", 17), "'dialect' is a int"),
        ("manifest.json", _edit("versions", 1), "'versions' is a int"),
        ("manifest.json", lambda path: _leave_out(path, "machine"), "it has no machine"),
        ("manifest.json", _edit("files", {}), "does not list"),
        ("manifest.json", lambda path: _name_a_file_outside(path), "outside of itself"),
    ],
)  # fmt: skip
def test_what_is_not_what_was_saved_is_refused(
    saved: tuple[nn.Module, Path],
    tmp_path: Path,
    file: str,
    harm: Callable[[Path], None],
    message: str,
) -> None:
    directory = tmp_path / "a"
    shutil.copytree(saved[1], directory)
    harm(directory / file)
    with pytest.raises(ArtefactError, match=message):
        torch2mlir.load(directory)


def _transposed(linear: nn.Linear) -> None:
    linear.weight.data = linear.weight.data.t().contiguous()


def _of_integers(linear: nn.Linear) -> None:
    linear.weight.data = (linear.weight.data * 100).int()


@pytest.mark.parametrize("change", [_transposed, _of_integers, nn.Module.double])
def test_weights_that_the_program_does_not_take_are_not_saved(
    change: Callable[[Any], Any], tmp_path: Path
) -> None:
    """XLA asks for the number of bytes only: what was loaded computed something else."""
    linear = nn.Linear(4, 8, bias=False).requires_grad_(False)
    compiled = torch2mlir.compile(linear, torch.ones(2, 4))
    change(linear)
    with pytest.raises(torch2mlir.InputError, match="'weight' is a"):
        torch2mlir.save(compiled, tmp_path / "artefact")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_artefacts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="no artefact"):
        torch2mlir.load(tmp_path)
    compiled = torch2mlir.compile(nn.Tanh(), torch.ones(2))
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(torch2mlir.InputError, match="holds other files"):
        torch2mlir.save(compiled, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("manifest", ['{"name": "of an app"}', "[1]", "no JSON", None])
def test_no_file_of_others_is_lost(manifest: str | None, tmp_path: Path) -> None:
    """Every directory with a file called ``manifest.json`` was replaced, and what was in it with it."""
    compiled = torch2mlir.compile(nn.Tanh(), torch.ones(2))
    mine = tmp_path / "src" / "mine.txt"
    if manifest is None:
        torch2mlir.save(compiled, tmp_path)
    else:
        (tmp_path / "manifest.json").write_text(manifest)
    mine.parent.mkdir()
    mine.write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(torch2mlir.InputError, match=r"would be lost: .*src/mine.txt"):
        torch2mlir.save(compiled, tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert mine.read_text() == "mine"


def test_artefacts_of_other_versions_are_replaced(tmp_path: Path) -> None:
    compiled, manifest = torch2mlir.compile(nn.Tanh(), torch.ones(2)), tmp_path / "manifest.json"
    torch2mlir.save(compiled, tmp_path)
    data = json.loads(manifest.read_text()) | {"format_version": 0, "engine": None}
    manifest.write_text(json.dumps(data))
    torch2mlir.save(compiled, tmp_path)
    check(torch2mlir.load(tmp_path), nn.Tanh(), (2,))


class Scaled(nn.Module):
    def __init__(self, weight: float, factor: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), weight), requires_grad=False)
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight * self.factor


def test_what_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One version's code ran with the other's weights: 10 or 2 where 1 or 20 is right."""
    versions = [torch2mlir.compile(Scaled(*each), torch.ones(3)) for each in ((1, 1), (2, 10))]
    directory, map_tensors = tmp_path / "a", weights.map_tensors
    torch2mlir.save(versions[0], directory)
    waiting = [versions[1]]

    def replaced_before(*args: Any) -> Any:
        if waiting:
            torch2mlir.save(waiting.pop(), directory)
        return map_tensors(*args)

    monkeypatch.setattr("torch2mlir.artefact.load.map_tensors", replaced_before)
    for factor in (1.0, 2.0, 3.0):
        x = torch.full((3,), factor)
        torch.testing.assert_close(torch2mlir.load(directory)(x), 20 * x)

    def replaced_always(*args: Any) -> Any:
        waiting.append(versions[0])
        return replaced_before(*args)

    monkeypatch.setattr("torch2mlir.artefact.load.map_tensors", replaced_always)
    with pytest.raises(ArtefactError, match="again and again"):
        torch2mlir.load(directory)


def test_links_to_artefacts_stay(tmp_path: Path) -> None:
    compiled, link = torch2mlir.compile(nn.Tanh(), torch.ones(2)), tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    for _ in range(2):
        torch2mlir.save(compiled, link)
        assert link.is_symlink()
        check(torch2mlir.load(tmp_path / "real"), nn.Tanh(), (2,))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(torch2mlir.InputError, match="cannot be made"):
        torch2mlir.save(compiled, tmp_path / "file" / "x")


def test_an_artefact_is_replaced_as_a_whole_or_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "a"
    torch2mlir.save(torch2mlir.compile(nn.Tanh(), torch.ones(2)), directory)
    second = torch2mlir.compile(nn.ReLU(), torch.ones(2))

    def fail(*_: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("torch2mlir.artefact.save.write_tensors", fail)
        with pytest.raises(OSError, match="no space"):
            torch2mlir.save(second, directory)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    check(torch2mlir.load(directory), nn.Tanh(), (2,))
    torch2mlir.save(second, directory)
    check(torch2mlir.load(directory), nn.ReLU(), (2,))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_nothing_is_unpickled(
    saved: tuple[nn.Module, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    check(torch2mlir.load(saved[1]), saved[0], (3, 8))


def test_optimized_modules_are_saved_with_their_programs(tmp_path: Path) -> None:
    from tests.hybrid.opaque_op import opaque

    class Split(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return opaque(torch.tanh(self.linear(x)) + 1).exp() * 2

    model = Split().eval()
    optimized = torch2mlir.optimize(model, True, torch.randn(4, 8))
    check(optimized, model, (1, 8))
    loaded: Any = torch2mlir.load(torch2mlir.save(optimized, tmp_path / "a"))
    check(loaded, model, (4, 8), (1, 8), (6, 8))
    report = loaded.report()
    assert report.compiled_ops and not report.pytorch_calls
    with pytest.raises(torch2mlir.InputError, match="captured for other calls"):
        loaded(torch.randn(4, 7))
    with pytest.raises(ArtefactError, match="no captured programs"):
        torch2mlir.save(torch2mlir.optimize(model), tmp_path / "b")


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x.sum(0))
        return self.linear(x).sin() + self.total.cos()


class Named(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        return {"scores": x * 2, "kind": "scores"}


def test_texts_among_results_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    x = torch.randn(2)
    optimized = torch2mlir.optimize(Named().eval(), True, model_inputs=(x,))
    with pytest.raises(torch2mlir.Torch2MLIRError, match="gives the text 'scores'"):
        torch2mlir.save(optimized, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    loaded: Any = torch2mlir.load(torch2mlir.save(torch2mlir.compile(Named(), x), tmp_path / "b"))
    assert loaded(x)["kind"] == "scores"


def test_programs_of_an_optimized_module_share_the_state_it_has_now(tmp_path: Path) -> None:
    optimized = torch2mlir.optimize(Counting().eval(), model_inputs=torch.randn(3, 4), verify=False)
    optimized.model.linear.weight = nn.Parameter(torch.ones(4, 4))
    eager = copy.deepcopy(optimized.model)
    check(optimized, eager, (3, 4), (1, 4))
    loaded: Any = torch2mlir.load(torch2mlir.save(optimized, tmp_path / "a"))
    check(loaded, eager, (3, 4), (1, 4), (5, 4), (1, 4))
    assert len(loaded.captured_programs) == 2


def test_the_command_line_builds(tmp_path: Path) -> None:
    model = Model().eval()
    batch = torch.export.Dim("batch", min=2)
    exported = torch.export.export(model, (torch.randn(4, 8),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, tmp_path / "model.pt2")
    directory = tmp_path / "model.artefact"
    command = ["build", str(tmp_path / "model.pt2"), "-o", str(directory), "-q"]
    assert main(command) == 0
    check(torch2mlir.load(directory), model, (4, 8))
    assert main([*command, "--to", "linalg-on-tensors"]) == 0
    check(torch2mlir.load(directory), model, (4, 8), (9, 8))


def _first_of_diagonal(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.diagonal(0)[:2], x - x.mean(1, keepdim=True)


def _centred(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(1, keepdim=True)


def test_sizes_of_one_are_refused_as_before_saving(tmp_path: Path) -> None:
    for number, (function, is_taken) in enumerate(((_first_of_diagonal, False), (_centred, True))):
        compiled = torch2mlir.compile(
            function,
            torch.randn(5, 4),
            output_type="linalg-on-tensors",
            engine="iree",
            dynamic_shapes=({1: torch.export.Dim("n", max=64)},),
        )
        loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / str(number)))
        for size in (4, 6, 1):
            x = torch.randn(5, size)
            if size > 1 or is_taken:
                torch.testing.assert_close(loaded(x), function(x))
            else:
                with pytest.raises(torch2mlir.InputError, match="the size 'n' in dimension 1"):
                    loaded(x)


@pytest.mark.share(2)
@pytest.mark.parametrize("how", ["compile", "optimize"])
def test_classes_that_are_not_there_are_dicts(how: str, tmp_path: Path) -> None:
    """The process that loads has not imported what the model returns."""
    from transformers.modeling_outputs import BaseModelOutput

    class Encoder(nn.Module):
        def forward(self, x: torch.Tensor) -> BaseModelOutput:
            return BaseModelOutput(last_hidden_state=x * 2, attentions=(x.sin(),))

    x = torch.randn(2, 3)
    if how == "compile":
        torch2mlir.save(torch2mlir.compile(Encoder(), x), tmp_path / "saved")
    else:
        torch2mlir.save(torch2mlir.optimize(Encoder(), model_inputs=(x,)), tmp_path / "saved")
    code = (
        "import sys, torch, torch2mlir\n"
        "loaded = torch2mlir.load(sys.argv[1])\n"
        "for x in torch.randn(3, 2, 3):\n"
        "    result = loaded(x)\n"
        "    assert type(result) is dict and type(result['attentions']) is tuple\n"
        "    torch.testing.assert_close(result['last_hidden_state'], x * 2)\n"
        "    torch.testing.assert_close(result['attentions'][0], x.sin())\n"
        "assert 'transformers' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "saved")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", ["short first", "long first"])
def test_each_kind_of_call_has_its_program(order: str, tmp_path: Path) -> None:
    """A program that PyTorch loads refuses the calls that the others are for."""

    class Branches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            hidden = self.layer(x).relu()
            return hidden * 2 if x.shape[1] > 4 else hidden.softmax(-1)

    model = Branches().eval().requires_grad_(False)
    optimized = torch2mlir.optimize(model)
    for length in (4, 5):
        optimized(torch.randn(2, length, 8))
    loaded = torch2mlir.load(torch2mlir.save(optimized, tmp_path / "saved"))
    lengths = (3, 6, 2, 7, 4) if order == "short first" else (6, 3, 7, 2, 9)
    for rows, length in enumerate(lengths, start=2):
        x = torch.randn(rows, length, 8)
        torch.testing.assert_close(loaded(x), model(x))
    assert not loaded.report().pytorch_calls


@pytest.mark.parametrize(("engine", "output_type"), ENGINES[:2])
def test_code_that_the_cache_on_disk_had_is_saved_whole(
    engine: str, output_type: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XLA writes a program that it has read without its kernels, and no call of the artefact ran."""
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", str(tmp_path / "cache"))
    model = Model().eval()
    for turn in range(3):
        compiled = torch2mlir.compile(
            model, torch.randn(3, 8), engine=engine, output_type=output_type
        )
        loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / f"artefact{turn}"))
        for _ in range(3):
            check(loaded, model, (3, 8))


def test_an_input_that_wants_a_gradient_is_refused(saved: tuple[nn.Module, Path]) -> None:
    model, directory = saved
    loaded = torch2mlir.load(directory)
    x = torch.randn(3, 8, requires_grad=True)
    with pytest.raises(InputError, match="requires a gradient"):
        loaded(x)
    with torch.no_grad():
        torch.testing.assert_close(loaded(x), model(x))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_what_is_loaded_is_not_copied(
    copied: Callable[[Any], Any], saved: tuple[nn.Module, Path]
) -> None:
    with pytest.raises(ArtefactError, match="load the directory again"):
        copied(torch2mlir.load(saved[1]))


class WithDefaults(nn.Module):
    def forward(
        self, x: torch.Tensor, power: int = 2, *, scale: float = 1.0, kind: object = torch.float32
    ) -> torch.Tensor:
        return (x**power).to(kind) * scale  # type: ignore[no-any-return, call-overload]


def test_arguments_by_name(tmp_path: Path) -> None:
    model, x = WithDefaults(), torch.randn(3)
    compiled = torch2mlir.compile(model, x, scale=3.0)
    loaded = torch2mlir.load(torch2mlir.save(compiled, tmp_path / "artefact"))
    for _ in range(3):
        x = torch.randn(3)
        for args, kwargs in (((x,), {}), ((), {"x": x}), ((x, 2), {})):
            assert torch.equal(loaded(*args, **kwargs, scale=3.0), model(x, scale=3.0))
    for args, kwargs in (((x, 3), {}), ((x,), {"other": 1}), ((), {}), ((x,), {"kind": int})):
        with pytest.raises(InputError):
            loaded(*args, **kwargs, scale=3.0)
