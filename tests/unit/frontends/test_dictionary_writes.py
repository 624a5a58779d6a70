"""Which of many dictionaries have been written to since the last look, also where one guard stands for all of them."""

from __future__ import annotations

import pytest

from torch2mlir.frontends import dictionary_writes
from torch2mlir.frontends.dictionary_writes import DictionaryWrites


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 7])
def test_each_write_is_told_of_once(looks: int) -> None:
    tables = [{"a": place} for place in range(5)]
    writes = DictionaryWrites(tables)
    for _ in range(3):
        for _ in range(looks):
            assert not writes.since()
        tables[3]["a"] = tables[1]["b"] = object()
        assert list(writes.since()) == [1, 3]
        del tables[1]["b"]
        assert list(writes.since()) == [1]
        assert not writes.since()


def test_there_may_be_none() -> None:
    writes = DictionaryWrites([])
    assert not any(writes.since() for _ in range(9))


def test_where_nobody_counts_all_may_have_been_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary_writes, "_dict_version", None)
    writes = DictionaryWrites([{}, {}])
    for _ in range(5):
        assert list(writes.since()) == [0, 1]
