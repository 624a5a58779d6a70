"""IREE's compiler, called in processes that stay: their death is an error here.

A process takes 0.4 s to start and then compiles as fast as one would in this process. As many are kept as compile at a
time; a forked process starts its own.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO

from iree.compiler.tools.binaries import find_tool

from torch2mlir.errors import EngineError
from torch2mlir.runtime import iree_worker
from torch2mlir.runtime.compile_deadline import compile_deadline
from torch2mlir.runtime.diagnostics import compile_error, shortened

TEXT_NAME = "program.mlir"
_SHOWN_OF_A_CRASH = 4000


def _temporary_files() -> dict[str, str]:
    """Where the linker that IREE calls has files: it takes no path with a space in it."""
    if not any(map(str.isspace, tempfile.gettempdir())):
        return {}
    other = next((place for place in ("/tmp", "/var/tmp") if os.access(place, os.W_OK)), None)
    return {} if other is None else {"TMPDIR": other}


class _Process:
    """A process with IREE's compiler.

    Args:
        flags: those that hold for all it compiles.
    """

    def __init__(self, flags: tuple[str, ...]) -> None:
        self.flags = flags
        self.owner = os.getpid()
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        environment = {
            **os.environ,
            **_temporary_files(),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._process = subprocess.Popen(
            [sys.executable, iree_worker.__file__, *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            env=environment,
            start_new_session=True,  # an interrupt from the keyboard is for the program that waits
        )

    def is_alive(self) -> bool:
        return self.owner == os.getpid() and self._process.poll() is None

    def compile(self, text: bytes, flags: Sequence[str]) -> tuple[dict[str, str], bytes] | None:
        """The answer; None if the process died of it."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        try:
            iree_worker.write_message(requests, {"flags": list(flags), "name": TEXT_NAME}, text)
            return iree_worker.read_message(answers)
        except BrokenPipeError:
            return None

    def stop(self) -> None:
        """Ends the process, whatever it does."""
        if self.owner == os.getpid():
            self._process.kill()
            self._process.wait()

    def obituary(self) -> str:
        """What it died of."""
        code = self._process.wait()
        self._printed.seek(0)
        printed = self._printed.read()[-_SHOWN_OF_A_CRASH:].decode(errors="replace").strip()
        if code < 0:
            reason = f"died of signal {-code} ({signal.Signals(-code).name})"
            if -code == signal.SIGKILL:
                reason += ", which the system sends where memory runs out"
        else:
            reason = f"ended with status {code}"
        return f"{reason}: {shortened(printed)}" if printed else reason


_lock = threading.Lock()
_idle: list[_Process] = []


def _taken(flags: tuple[str, ...]) -> _Process:
    with _lock:
        _idle[:] = [process for process in _idle if process.is_alive()]
        for process in _idle:
            if process.flags == flags:
                _idle.remove(process)
                return process
        return _Process(flags)


@contextmanager
def _ended_in_time(process: _Process) -> Iterator[threading.Event]:
    """While this lasts, a process is ended when its time is over, which the event then tells."""
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        process.stop()

    if (deadline := compile_deadline()) is None:
        yield is_late
        return
    timer = threading.Timer(max(deadline - time.perf_counter(), 0.0), end)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def compile_to_bytecode(
    text: str, output_type: str, flags: Sequence[str], process_flags: tuple[str, ...] = ()
) -> bytes:
    """A program in IREE's own format.

    Args:
        text: the program.
        output_type: its dialect, for errors.
        flags: of this program.
        process_flags: flags that IREE has for a whole process only.

    Raises:
        EngineError: IREE refuses the program, dies of it, or does not end until it has to.
    """
    process = _taken(process_flags)
    try:
        with _ended_in_time(process) as is_late:
            answer = process.compile(text.encode(), flags)
    except BaseException:
        process.stop()
        raise
    if answer is None and is_late.is_set():
        raise EngineError(
            "IREE's compiler did not end in the time that it was given",
            dialect=output_type,
            hint="another engine or output type may take the program",
        )
    if answer is None:
        raise EngineError(
            f"IREE's compiler crashed on the program: it {process.obituary()}",
            dialect=output_type,
            hint="another engine or output type may take it",
        )
    with _lock:
        _idle.append(process)
    said, bytecode = answer
    if "refused" in said:
        raise compile_error("IREE", output_type, said["refused"], text, TEXT_NAME)
    if "unwritten" in said:
        raise EngineError(
            f"IREE cannot write the compiled program: {said['unwritten']}", dialect=output_type
        )
    return bytecode


@cache
def system_linker_flags() -> tuple[str, ...]:
    """Flags for a program that calls functions of the C library: it becomes a library of the system."""
    flags = ("--iree-llvmcpu-link-embedded=false",)
    if sys.platform != "linux":
        return flags
    return (*flags, f"--iree-llvmcpu-system-linker-path={find_tool('iree-lld')} -flavor gnu")


@atexit.register
def _stop_all() -> None:
    for process in _idle:
        process.stop()
