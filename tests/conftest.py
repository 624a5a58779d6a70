"""What all tests share: one thread per worker, and ``--full``."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="every case in every mode on the slow engines too"
    )


def pytest_configure(config: pytest.Config) -> None:
    import torch

    torch.set_num_threads(1)
