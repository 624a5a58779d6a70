"""Arguments of XLA calls are read where they lie, whatever came to lie there since, and nobody owns them but the caller."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref

import pytest
import torch

import torch2mlir
from torch2mlir.runtime import lent_memory
from torch2mlir.runtime.lent_memory import LentMemory

DTYPES = [*lent_memory._CODES, torch.complex32]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_read_as_it_is(dtype: torch.dtype) -> None:
    run = torch2mlir.compile(lambda x: x.flip(0), torch.zeros(4, dtype=dtype), engine="xla")
    for values in ([1, 0, 2, 3], [0, 0, 1, 1], [5, 6, 7, 1]):
        x = torch.tensor(values).to(dtype)
        y = run(x)
        assert y.dtype is dtype
        assert y.tolist() == x.tolist()[::-1]


def test_a_tensor_that_changed_in_place_is_read_anew() -> None:
    x = torch.zeros(16)
    run = torch2mlir.compile(lambda x: x + 1, x, engine="xla")
    for value in range(5):
        assert run(x.fill_(value)).tolist() == [value + 1.0] * 16


def test_another_tensor_at_the_same_place_is_another_tensor() -> None:
    memory = LentMemory()
    storage = torch.arange(64, dtype=torch.int32)
    whole, part = memory.view(storage), memory.view(storage[:16])
    floats = memory.view(storage.view(torch.float32))
    assert whole.shape == (64,) and part.shape == (16,)
    assert str(floats.dtype) == "float32"
    assert memory.view(storage) is whole


def test_what_lies_at_no_multiple_of_64_bytes_is_copied_at_every_call() -> None:
    base = torch.zeros(65)
    run = torch2mlir.compile(lambda x: x * 2, base[1:], engine="xla")
    for value in (1.0, 2.0, 3.0):
        base.fill_(value)
        assert run(base[1:]).tolist() == [2 * value] * 64


def test_arguments_are_given_back_with_the_call() -> None:
    x = torch.randn(64, 64)
    run = torch2mlir.compile(lambda x: x @ x, x, engine="xla")
    given = torch.randn(64, 64)
    seen = weakref.ref(given)
    run(given)
    del given
    gc.collect()
    assert seen() is None


def test_more_places_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lent_memory, "_REMEMBERED", 4)
    memory = LentMemory()
    tensors = [torch.full((16,), float(number)) for number in range(12)]
    for _ in range(2):
        for number, tensor in enumerate(tensors):
            assert float(memory.view(tensor)[3]) == number
    assert len(memory._views) == 4


def test_threads_share_it() -> None:
    run = torch2mlir.compile(lambda x: x @ x, torch.randn(32, 32), engine="xla")
    wrong: list[object] = []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(100):
            x = torch.randn(32, 32, generator=generator)
            if not torch.allclose(run(x), x @ x, atol=1e-4):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "engine", [pytest.param("xla", marks=pytest.mark.full("a process more")), "iree"]
)
def test_python_ends_well_right_after_a_call(engine: str) -> None:
    program = (
        "import torch, torch2mlir\n"
        "x = torch.randn(512, 512)\n"
        f"run = torch2mlir.compile(lambda x: x @ x @ x, x, engine='{engine}')\n"
        "for _ in range(3): run(torch.randn(512, 512))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr


@pytest.mark.full("a process more")
def test_python_ends_well_where_dynamo_keeps_the_script_alive() -> None:
    program = (
        "import atexit\n"
        "def late():\n"
        "    try: run(x)\n"
        "    except torch2mlir.EngineError as error: print(error)\n"
        "atexit.register(late)\n"  # before torch2mlir's, so it runs after them
        "import torch, torch2mlir\n"
        "x = torch.randn(2, 4)\n"
        "run = torch2mlir.compile(torch.nn.Linear(4, 4).requires_grad_(False), x, engine='iree')\n"
        "run(x)\n"
        "torch.compile(torch.neg, backend='eager')(x)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr
    assert "@main cannot be called any more: Python is ending" in done.stdout


def test_the_public_way_is_taken_where_the_short_one_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lent_memory, "_capsule_importer", lambda: None)
    assert float(LentMemory().view(torch.full((3,), 2.5))[1]) == 2.5
