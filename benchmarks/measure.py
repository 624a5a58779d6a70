"""Time and peak memory of one call in a process of its own, forked from one that holds what the call needs.

The fork shares the exported program, so nothing is exported twice, and each call meets an interpreter that has not
imported or cached anything for it. The parent samples the child's anonymous memory from outside, where neither a
held interpreter lock nor mapped library code blurs the figure.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SAMPLE_SECONDS = 0.004


@dataclass(frozen=True)
class Measurement:
    """What one call cost.

    Attributes:
        seconds: wall time.
        bytes: growth of anonymous resident memory from the start of the call to its peak.
        failure: why there are no figures, empty if there are.
    """

    seconds: float = 0.0
    bytes: int = 0
    failure: str = ""


def measure(prepare: Callable[[], Callable[[], Any]]) -> Measurement:
    """Fork, let the child ``prepare`` (imports, inputs; not counted), and measure the call it returns."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run_child(prepare, writer)
    os.close(writer)
    try:
        return _watch(child, reader)
    finally:
        os.close(reader)


def _run_child(prepare: Callable[[], Callable[[], Any]], writer: int) -> None:
    """Run in the child; never returns."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        call = prepare()
        gc.collect()
        os.write(writer, b"start\n")
        time.sleep(5 * SAMPLE_SECONDS)  # the parent takes its base line
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        time.sleep(2 * SAMPLE_SECONDS)  # and sees what the result holds
        os.write(writer, f"end {seconds}\n".encode())
        del result
    except BaseException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        message = next((line for line in lines if "error" in line.lower()), (lines or [""])[0])
        os.write(writer, f"failed {type(error).__name__}: {message}\n".encode())
    finally:
        os._exit(0)


def _watch(child: int, reader: int) -> Measurement:
    base, peak, heard = -1, 0, b""
    while True:
        ready, _, _ = select.select([reader], [], [], SAMPLE_SECONDS)
        if ready:
            piece = os.read(reader, 4096)
            heard += piece
            if not piece or b"end " in heard or b"failed " in heard:
                break
        if b"start" in heard:
            now = _anonymous_bytes(child)
            base = now if base < 0 else base
            peak = max(peak, now)
    _, status = os.waitpid(child, 0)
    last = heard.decode(errors="replace").strip().rpartition("\n")[2]
    kind, _, rest = last.partition(" ")
    if kind == "end":
        return Measurement(float(rest), max(0, peak - base))
    if kind == "failed":
        return Measurement(failure=rest)
    return Measurement(failure=f"the process died (status {status})")


def _anonymous_bytes(process: int) -> int:
    """Resident anonymous memory of a process; 0 where the system has no /proc."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0
