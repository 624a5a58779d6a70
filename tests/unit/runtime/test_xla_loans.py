"""Arguments lent to XLA are back before Python ends: a thread that gave them back later would abort the process."""

from __future__ import annotations

import threading
import time
import weakref

import torch

import torch2mlir
from torch2mlir.runtime import xla


def test_arguments_are_given_back() -> None:
    x = torch.randn(512, 512)
    product = torch2mlir.compile(lambda x: x @ x @ x, x, output_type="stablehlo", engine="xla")
    for _ in range(3):
        product(x)
    xla._wait_for_loans()
    assert not xla._loans


def test_the_end_of_python_waits_for_a_thread_that_holds_an_argument() -> None:
    lent = [torch.zeros(3)]
    xla._loans.add(weakref.ref(lent[0], xla._loans.discard))

    def give_back() -> None:
        time.sleep(0.1)
        lent.clear()

    thread = threading.Thread(target=give_back)
    thread.start()
    xla._wait_for_loans()
    assert not lent and not xla._loans
    thread.join()
