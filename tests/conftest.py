"""What all tests share: one thread per worker or ``--threads``, ``--full``, ``--order``, ``--failures``, and that no test
leaves anything behind.
"""

from __future__ import annotations

import gc
import os
import random
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="every case in every mode on the slow engines too"
    )
    parser.addoption(
        "--order",
        default="given",
        help="the order of tests: given, reversed, or a number that shuffles them",
    )
    parser.addoption("--threads", type=int, default=1, help="of the engines, in each worker")
    parser.addoption(
        "--failures",
        type=Path,
        metavar="FILE",
        help="where each test that fails is named at once, with its report: of a long run that is stopped as well",
    )


class Failures:
    """Writes down what fails as it fails.

    Args:
        path: a file that is begun anew.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._path.open("a") as file:
                file.write(f"{report.nodeid} ({report.when})\n{report.longreprtext}\n\n")


def pytest_configure(config: pytest.Config) -> None:
    from tests.threads import use_threads

    # a test that wants compiled code kept names a directory of its own
    os.environ.setdefault("TORCH2MLIR_CACHE_DIR", "off")
    use_threads(config.getoption("--threads"))
    config.addinivalue_line("markers", "full(why): only with --full")
    config.addinivalue_line(
        "markers", "share(n): of the variants of a test one in n, always the same; all with --full"
    )
    failures = config.getoption("--failures")
    if failures is not None and not hasattr(config, "workerinput"):  # workers report to one process
        config.pluginmanager.register(Failures(failures))


def pytest_collection_finish() -> None:
    """Python looks for cycles after every 700 new objects; captures make many, and that took a sixth of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        marker = item.get_closest_marker("full")
        if marker is not None and not config.getoption("--full"):
            item.add_marker(pytest.mark.skip(reason=f"{marker.args[0]}: with --full"))
    if not config.getoption("--full"):
        others = {*_other_shares(items)}
        config.hook.pytest_deselected(items=[*others])  # thousands: to skip each takes a while
        items[:] = [item for item in items if item not in others]
    order = config.getoption("--order")
    if order == "reversed":
        items.reverse()
    elif order != "given":
        random.Random(int(order)).shuffle(items)


def _other_shares(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """What a regular run leaves out of the tests marked with ``share``: names decide, so no dialect or engine does."""
    variants = defaultdict[tuple[Path, str], list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("share") is not None:
            variants[item.path, item.name.partition("[")[0]].append(item)
    for several in variants.values():
        (n,) = several[0].get_closest_marker("share").args  # type: ignore[union-attr]
        several.sort(key=lambda item: zlib.crc32(item.name.encode()))
        yield from several[-(-len(several) // n) :]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """What a test registers or sets for the whole process it takes back, so that the order of tests is free."""
    before = _process_wide()
    yield
    after = _process_wide()
    assert after == before, "the test leaves something behind in the process"


def _process_wide() -> dict[str, object]:
    import torch

    from torch2mlir.contract.target import target_names
    from torch2mlir.conversion.registry import own_ops
    from torch2mlir.runtime.engine import engine_names

    return {
        "engines": engine_names(),
        "targets": target_names(),
        "own lowerings": {name: own_ops(name) for name in target_names()},
        "default dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "gradients": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "compiling": torch.compiler.is_compiling(),
        "bytecode analysis": torch._C._dynamo.eval_frame.get_eval_frame_callback(),
    }
