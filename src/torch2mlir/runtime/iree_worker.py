"""IREE's compiler in a process of its own: what it dies of ends this process, not the user's.

The file is run by its path, and imports nothing of this package: it starts as fast as IREE's compiler loads. Requests
come in on stdin and answers go out on stdout, each a JSON header and a payload behind their two lengths; the process
ends when stdin does, and in the middle of a program when whoever asks has been killed. Arguments of the command line
are flags that IREE has for a whole process only.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
import sys
import threading
import time
from contextlib import suppress
from ctypes.util import find_library
from pathlib import Path
from typing import IO, Any

LENGTHS = struct.Struct("<QQ")

_MIXED_UP = re.compile(
    rb"%\S+:\d+ = flow\.dispatch @_initializer_[^\n]* : \((?:index|i\d+|f\d+|bf16|, )*\) -> "
)
"""A dispatch that computes several constants from none: canonicalization takes the first of them for each."""
_IN_PLACE = "--iree-opt-const-expr-hoisting=false"
"""Has constants computed where they are used."""

_SEVERITY_ERROR = 2
_DiagnosticCallback = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)


def write_message(stream: IO[bytes], header: Any, payload: bytes) -> None:
    """One request or answer."""
    text = json.dumps(header).encode()
    stream.write(LENGTHS.pack(len(text), len(payload)))
    stream.write(text)
    stream.write(payload)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[Any, bytes] | None:
    """The next one; None if the other side has gone."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    text_length, payload_length = LENGTHS.unpack(lengths)
    text, payload = stream.read(text_length), stream.read(payload_length)
    if len(text) < text_length or len(payload) < payload_length:
        return None
    return json.loads(text), payload


def compile_program(flags: list[str], text: bytes, name: str) -> tuple[dict[str, str], bytes]:
    """Compiles a text; what IREE says against it is ``refused``, or ``unwritten`` for the result.

    Args:
        flags: of this program alone.
        text: MLIR.
        name: what diagnostics call the text.
    """
    said, bytecode = _compile(flags, text, name)
    return _compile([*flags, _IN_PLACE], text, name) if "mixed up" in said else (said, bytecode)


def _compile(flags: list[str], text: bytes, name: str) -> tuple[dict[str, str], bytes]:
    """As :func:`compile_program`; ``mixed up`` where IREE would lose constants."""
    from iree.compiler.api import Output, Session, Source

    errors: list[str] = []

    @_DiagnosticCallback
    def collect(severity: int, message: int, size: int, _data: int) -> None:
        if severity == _SEVERITY_ERROR:
            errors.append(ctypes.string_at(message, size).decode(errors="replace"))

    with Session() as session:
        try:
            session.set_flags(*flags)
        except ValueError as error:
            return {"refused": str(error)}, b""
        with session.invocation() as invocation:
            _send_diagnostics(invocation, collect)
            # IREE parses in place up to the terminating zero.
            source = Source.wrap_buffer(session, text + b"\0", buffer_name=name)
            if not (invocation.parse_source(source) and _reach(invocation, "start", "flow")):
                return {"refused": "\n".join(errors)}, b""
            if _IN_PLACE not in flags:
                with Output.open_membuffer() as output:
                    invocation.output_ir(output)
                    if _MIXED_UP.search(output.map_memory()):
                        return {"mixed up": ""}, b""
            if not _reach(invocation, "flow", "end"):
                return {"refused": "\n".join(errors)}, b""
            with Output.open_membuffer() as output:
                try:
                    invocation.output_vm_bytecode(output)
                except ValueError as error:
                    return {"unwritten": str(error)}, b""
                return {}, bytes(output.map_memory())


def _reach(invocation: Any, start: str, end: str) -> bool:
    """Compiles from one phase to another, which IREE's C interface has, but not its Python wrapper."""
    library = invocation._local_dylib
    for kind, phase in (("From", start), ("To", end)):
        choose = getattr(library, f"ireeCompilerInvocationSetCompile{kind}Phase")
        choose.restype, choose.argtypes = None, [ctypes.c_void_p, ctypes.c_char_p]
        choose(invocation._inv_p, phase.encode())
    return bool(invocation.execute())


def _send_diagnostics(invocation: Any, callback: Any) -> None:
    """Send diagnostics to ``callback``: in IREE's C interface, but not in its Python wrapper."""
    enable = invocation._local_dylib.ireeCompilerInvocationEnableCallbackDiagnostics
    enable.restype = None
    enable.argtypes = [ctypes.c_void_p, ctypes.c_int, _DiagnosticCallback, ctypes.c_void_p]
    enable(invocation._inv_p, 0, callback, None)


def _end_with(owner: int) -> None:
    """Ends this process when another one, its parent, has ended: a program may take IREE minutes."""
    while os.getppid() == owner:
        time.sleep(1)
    os._exit(1)


def _die_first() -> None:
    """Where memory runs out, Linux ends this process before the user's: IREE may ask for all there is."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    """Answers requests until stdin ends."""
    _die_first()
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the compiler prints is no answer
    from iree.compiler.api import ctypes_dl

    # constants are computed here by programs that may call the C library
    ctypes.CDLL(find_library("m"), mode=ctypes.RTLD_GLOBAL)
    if sys.argv[1:]:
        ctypes_dl._initializeGlobalCL("iree-compile", *sys.argv[1:])
    while (request := read_message(requests)) is not None:
        header, text = request
        write_message(answers, *compile_program(header["flags"], text, header["name"]))


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, whose modules are not to be found by other names
    main()
