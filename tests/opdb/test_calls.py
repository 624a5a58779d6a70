"""What the table of coverage says of an overload holds for a real call of it, backward ops included."""

from __future__ import annotations

from tests.opdb.calls import failure, recorded
from torch2mlir.tools.registry_ways import UNSUPPORTED, ways
from torch2mlir.transforms.decompositions import op_name


def test_covered_overloads_reach_the_backend_contract() -> None:
    kinds = {way.op: way.kind for way in ways()}
    wrong = []
    for name, (overload, program) in recorded().items():
        if kinds.get(op_name(overload)) not in (UNSUPPORTED, None) and (reason := failure(program)):
            wrong.append(f"{name}: {reason}")
    assert not wrong, "\n".join(wrong)


def test_the_database_calls_most_of_what_programs_contain() -> None:
    assert len(recorded()) > 500
