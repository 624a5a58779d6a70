"""What the table of coverage says of an overload holds for a real call of it, backward ops included."""

from __future__ import annotations

import zlib

import pytest

from tests.opdb.calls import failure, recorded
from torch2mlir.tools.registry_ways import UNSUPPORTED, ways
from torch2mlir.transforms.decompositions import op_name

SHARE = 10
"""Without ``--full`` one entry of the database in so many is run, and one overload in so many of its calls is lowered."""


def test_covered_overloads_reach_the_backend_contract(request: pytest.FixtureRequest) -> None:
    kinds = {way.op: way.kind for way in ways()}
    wrong, share = [], 1 if request.config.getoption("--full") else SHARE
    for name, (overload, program) in recorded(share).items():
        if zlib.crc32(name.encode()) % share:
            continue
        if kinds.get(op_name(overload)) not in (UNSUPPORTED, None) and (reason := failure(program)):
            wrong.append(f"{name}: {reason}")
    assert not wrong, "\n".join(wrong)


def test_the_database_calls_most_of_what_programs_contain(request: pytest.FixtureRequest) -> None:
    share = 1 if request.config.getoption("--full") else SHARE
    assert len(recorded(share)) > 500 // share
