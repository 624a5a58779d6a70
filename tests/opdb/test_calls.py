"""What the table of coverage says of an overload holds for a real call of it, backward ops included."""

from __future__ import annotations

import zlib

import pytest

from tests.opdb.calls import failure, recorded
from torch2mlir.tools.registry_ways import UNSUPPORTED, ways
from torch2mlir.transforms.decompositions import op_name

SHARE = 48
"""One overload in so many is lowered without ``--full``."""


def test_covered_overloads_reach_the_backend_contract(request: pytest.FixtureRequest) -> None:
    kinds = {way.op: way.kind for way in ways()}
    wrong = []
    for name, (overload, program) in recorded().items():
        if not request.config.getoption("--full") and zlib.crc32(name.encode()) % SHARE:
            continue
        if kinds.get(op_name(overload)) not in (UNSUPPORTED, None) and (reason := failure(program)):
            wrong.append(f"{name}: {reason}")
    assert not wrong, "\n".join(wrong)


def test_the_database_calls_most_of_what_programs_contain() -> None:
    assert len(recorded()) > 500
