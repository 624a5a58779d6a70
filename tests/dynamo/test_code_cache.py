"""Compiled code on disk: found by other processes, and never trusted further than its checksum."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from tests.dynamo.agreement import assert_close, compiled
from torch2mlir.runtime import cache
from torch2mlir.runtime.engine import get_engine
from torch2mlir.runtime.lowered import LoweredFunction

PROGRAM = """
import sys, torch
from torch2mlir import dynamo
from torch2mlir.runtime.cache import cache_from_environment

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
options = {"engine": sys.argv[1], "output_type": sys.argv[2]}
compiled = torch.compile(model, backend=dynamo.backend, options=options)
x = torch.randn(3, 4)
torch.manual_seed(1)
loss = compiled(x).square().sum()
loss.backward()
torch.manual_seed(1)
assert torch.allclose(loss, model(x).square().sum(), atol=1e-6)
counts = cache_from_environment(default=True).counts
print(counts.hits, counts.misses, counts.stores, counts.refused)
"""

ENGINES = [("xla", "stablehlo"), ("iree", "linalg-on-tensors")]


def process(directory: Path, engine: str = "xla", output_type: str = "stablehlo") -> Any:
    environment = {**os.environ, "TORCH2MLIR_CACHE_DIR": str(directory)}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, engine, output_type],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def counts_of(running: Any) -> list[int]:
    output, errors = running.communicate()
    assert running.returncode == 0, errors
    return [int(word) for word in output.split()]


def files(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.bin"))


@pytest.mark.parametrize("engine, output_type", ENGINES)
def test_two_processes_compile_the_same_at_once_and_a_third_loads_it(
    engine: str, output_type: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--full"):
        pytest.skip("three processes more; with --full")
    both = [process(tmp_path, engine, output_type) for _ in range(2)]
    for running in both:
        hits, misses, stores, refused = counts_of(running)
        assert (hits + misses, stores, refused) == (2, misses, 0)
    assert len(files(tmp_path)) == 2
    assert not list(tmp_path.rglob(".writing-*"))
    assert counts_of(process(tmp_path, engine, output_type)) == [2, 0, 0, 0]


class Model:
    """One program, compiled against a directory as often as asked."""

    def __init__(self, directory: Path) -> None:
        self.code = cache.CodeCache(directory)
        self.x = torch.randn(3, 4)
        self.layer = nn.Linear(4, 2)
        program = torch2mlir.export_and_import(
            self.layer, self.x, output_type="stablehlo", weights="arguments"
        )
        self.function = lambda: LoweredFunction.of(program.operation.clone(), "stablehlo")
        self.engine = get_engine("xla")
        self.key = cache.function_key(self.engine, self.function())

    def run(self) -> None:
        executable = cache.compile_cached(self.engine, self.function(), self.code)
        assert_close(
            executable([self.x, self.layer.weight, self.layer.bias])[0], self.layer(self.x).detach()
        )

    @property
    def path(self) -> Path:
        (path,) = files(self.code.directory)
        return path


@pytest.fixture
def model(tmp_path: Path) -> Model:
    made = Model(tmp_path)
    made.run()
    assert (made.code.counts.misses, made.code.counts.stores) == (1, 1)
    return made


def flipped(data: bytes, position: int) -> bytes:
    changed = bytearray(data)
    changed[position] ^= 1
    return bytes(changed)


HEADER = 16 + 4 + 32 + 32 + 8


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "attack, reason",
    [
        (lambda data: b"", "ends within its header"),
        (lambda data: data[: HEADER - 1], "ends within its header"),
        (lambda data: data[:HEADER], "0 bytes of code"),
        (lambda data: data[:-100], "bytes of code where its header says"),
        (lambda data: data + b"more", "bytes of code where its header says"),
        (lambda data: flipped(data, 0), "not a file of this cache"),
        (lambda data: flipped(data, 16), "of format 3"),
        (lambda data: flipped(data, 20), "another program"),
        (lambda data: flipped(data, 60), "checksum"),
        (lambda data: flipped(data, len(data) // 2), "checksum"),
        (lambda data: b"\x80\x04\x95cposix\nsystem\n" * 20, "not a file of this cache"),
    ],
)
def test_a_damaged_file_is_refused_and_replaced(model: Model, attack: Any, reason: str) -> None:
    whole = model.path.read_bytes()
    model.path.write_bytes(attack(whole))
    with pytest.warns(UserWarning, match=reason):
        model.run()
    assert model.code.counts.refused == 1
    assert len(model.path.read_bytes()) >= HEADER
    model.run()
    assert model.code.counts.hits == 1


def test_bytes_that_the_engine_does_not_know_are_refused(model: Model) -> None:
    model.code.store(model.key, b"these are no bytes of XLA's")
    with pytest.warns(UserWarning, match="XLA cannot load"):
        model.run()
    model.run()
    assert model.code.counts.hits == 1


def test_links_and_directories_in_place_of_files_are_refused(model: Model, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    path = model.path
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.warns(UserWarning, match="not used"):
        model.run()
    assert not path.is_symlink()


def test_a_directory_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(torch2mlir.EngineError, match="others can write to it"):
        cache.cache_in(tmp_path)
    taken = tmp_path / "file"
    taken.touch()
    with pytest.raises(torch2mlir.EngineError, match="not a directory"):
        cache.cache_in(taken)


def test_a_disk_that_cannot_be_written_costs_the_entry_only(tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    made = Model(in_the_way / "below")
    in_the_way.touch()
    with pytest.warns(UserWarning, match="cannot write compiled code"):
        made.run()


def test_the_key_is_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Model(tmp_path)
    engine = made.engine
    assert cache.function_key(engine, made.function()) == made.key
    monkeypatch.setattr(type(engine), "version", lambda self: "another version")
    assert cache.function_key(engine, made.function()) != made.key
    monkeypatch.undo()
    monkeypatch.setattr(cache, "_surroundings", lambda: ("another CPU",))
    assert cache.function_key(engine, made.function()) != made.key


def test_other_source_of_ours_is_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Model(tmp_path / "code")
    step = tmp_path / "torch2mlir" / "engine_passes" / "step.py"
    step.parent.mkdir(parents=True)
    (tmp_path / "torch2mlir" / "runtime").mkdir()
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "torch2mlir" / "runtime" / "cache.py"))
    keys = []
    for text in ("wrong = True", "wrong = False", "wrong = True"):
        step.write_text(text)
        cache._surroundings.cache_clear()
        keys.append(cache.function_key(made.engine, made.function()))
    monkeypatch.undo()
    cache._surroundings.cache_clear()
    assert keys[0] == keys[2] != keys[1]
    assert cache.function_key(made.engine, made.function()) == made.key


def test_threads_share_a_directory(model: Model) -> None:
    failures = list[BaseException]()

    def run() -> None:
        try:
            for _ in range(5):
                model.run()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert model.code.counts.hits == 20


def test_who_uses_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, layer = torch.randn(3, 4), nn.Linear(4, 4)
    torch2mlir.compile(layer, x)
    compiled(layer)(x)
    assert not files(tmp_path)
    monkeypatch.setenv("TORCH2MLIR_CACHE_DIR", str(tmp_path / "all"))
    assert_close(torch2mlir.compile(layer, x)(x), layer(x).detach())
    assert files(tmp_path / "all")

    monkeypatch.delenv("TORCH2MLIR_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    torch2mlir.compile(layer, x)
    torch._dynamo.reset()
    compiled(layer, {"cache": False})(x)
    torch._dynamo.reset()
    compiled(layer, {"cache": str(tmp_path / "named")})(x)
    assert not (tmp_path / "home").exists()
    assert files(tmp_path / "named")
    torch._dynamo.reset()
    compiled(layer)(x)
    assert files(tmp_path / "home" / "torch2mlir")
