"""``canonicalize``, as scripts call it: torch ops by ``torch-canonicalize``, those of other dialects by xDSL."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms import canonicalize

from torch2mlir.transforms.canonicalize import CanonicalizePass
from torch2mlir.transforms.pass_sequence import PassSequence


class CanonicalizeEverythingPass(PassSequence):
    """See the module's docstring."""

    name = "canonicalize"

    def steps(self, module: ModuleOp) -> Iterator[ModulePass]:
        yield CanonicalizePass()
        yield canonicalize.CanonicalizePass()
