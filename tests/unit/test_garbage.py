"""The garbage collector is as it was after IR has been made, and what others have set aside stays there."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import torch

import torch2mlir
from torch2mlir import garbage
from torch2mlir.garbage import older_objects_left_alone


@pytest.fixture(autouse=True)
def unfrozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(garbage, "_others_until", 0.0)
    gc.unfreeze()
    yield
    gc.unfreeze()


class Cyclic:
    def __init__(self) -> None:
        self.itself = self


def test_only_new_objects_are_collected() -> None:
    old = Cyclic()
    known = weakref.ref(old)
    with older_objects_left_alone(), older_objects_left_alone():
        assert gc.get_freeze_count() > 0
        del old
        made = weakref.ref(Cyclic())
        gc.collect()
        assert made() is None
        assert known() is not None
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert known() is None


def test_what_others_set_aside_stays() -> None:
    gc.freeze()
    count = gc.get_freeze_count()
    torch2mlir.export_and_import(torch.nn.Linear(2, 2), torch.randn(1, 2)).bytecode()
    assert gc.get_freeze_count() > count // 2  # objects that nobody refers to are freed at once


def test_objects_of_others_are_not_counted_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.freeze()
    asked = []
    count = gc.get_freeze_count
    monkeypatch.setattr(gc, "get_freeze_count", lambda: asked.append(1) or count())
    for _ in range(5):
        with older_objects_left_alone():
            pass
    assert len(asked) == 1


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_is_as_it_was(is_enabled: bool) -> None:
    (gc.enable if is_enabled else gc.disable)()
    try:
        with pytest.raises(torch2mlir.Torch2MLIRError):
            torch2mlir.export_and_import(torch.nn.Linear(2, 2), output_type="nothing")  # type: ignore[arg-type]
        str(torch2mlir.export_and_import(torch.nn.Linear(2, 2), torch.randn(1, 2)))
        assert gc.isenabled() is is_enabled
        assert gc.get_freeze_count() == 0
    finally:
        gc.enable()
