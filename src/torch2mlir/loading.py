"""Loading modules of ours when they are first needed."""

from __future__ import annotations

import gc
from importlib import import_module
from types import ModuleType

from torch2mlir.shared_generators import generators_kept


def loaded(name: str) -> ModuleType:
    """The module, imported with the garbage collector at rest.

    Modules are not garbage. Making their classes and functions would set the collector off again and again over all
    objects of PyTorch, which takes a third of the time of the import. Random numbers that a module draws while it is
    imported, as ``rich`` does, are not missing in those of the user.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with generators_kept():
            return import_module(name)
    finally:
        if collecting:
            gc.enable()
