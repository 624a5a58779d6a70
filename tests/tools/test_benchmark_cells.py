"""Tables of benchmarks: cells run in fresh processes, failures say why, and a file of results is gone on with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAM = """
import sys
sys.path.insert(0, {benchmarks!r})
from cells import NOTE, Benchmark, main

def measure(row, column, options):
    if column == "broken":
        raise ValueError("it cannot")
    if column == "missing":
        import no_such_package_at_all
    print(NOTE + "by hand")
    return [float(options.figure), float(options.figure) + 2]

def arguments(parser):
    parser.add_argument("--figure", type=int, default=4)

raise SystemExit(main(Benchmark(
    __file__, "what", ["a", "b"], ["first", "second", "broken", "missing"], measure,
    arguments=arguments,
), "A benchmark."))
"""


def run(place: Path, *options: str) -> str:
    script = place / "program.py"
    script.write_text(PROGRAM.format(benchmarks=str(BENCHMARKS)))
    command = [sys.executable, str(script), "--rounds", "1", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_cells_are_measured_and_failures_say_why(tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    shown = run(tmp_path, "--rows", "a", "--figure", "7", "--plot", str(picture))
    assert "8 (7) by hand" in shown and "it cannot" in shown and "not installed" in shown
    assert "geometric mean of 1" in shown
    assert picture.read_text().startswith("<svg") and "second 1.00x" in picture.read_text()


def test_a_file_of_results_is_gone_on_with(tmp_path: Path) -> None:
    kept = tmp_path / "results.json"
    run(tmp_path, "--rows", "a", "--columns", "first", "--figure", "1", "--results", str(kept))
    run(tmp_path, "--columns", "first", "--figure", "5", "--results", str(kept))
    cells = json.loads(kept.read_text())["cells"]
    assert cells["a"]["first"]["values"] == [1, 3] and cells["b"]["first"]["values"] == [5, 7]
    again = ["--rows", "a", "--columns", "first", "--again", "--results", str(kept)]
    assert "5 (4) by hand" in run(tmp_path, *again)
