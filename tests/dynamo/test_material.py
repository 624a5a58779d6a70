"""Samples of PyTorch's operator, module and optimizer databases through torch.compile; all of them with ``--full``."""

from __future__ import annotations

import pytest

from tests.dynamo.material import DATABASES, outcome

SHORT = {
    "ops": [
        "nn.functional.layer_norm",
        "index_put",
        "sort",
        "cumsum",
        "nn.functional.conv_transpose2d",
        "logit",
        "as_strided",
        "nn.functional.embedding_bag",
    ],
    "modules": ["nn.GRUCell", "nn.BatchNorm3d", "nn.CTCLoss"],
    "optimizers": ["Adam amsgrad", "NAdam default", "Muon default", "Rprop default"],
}


def entries() -> list[tuple[str, str]]:
    return [(database, name) for database, names in SHORT.items() for name in names]


@pytest.mark.share(24)
@pytest.mark.parametrize("database, name", entries())
def test_entry(database: str, name: str) -> None:
    item = next(item for item in DATABASES[database](None) if item.name == name)
    result, reason = outcome(item)
    assert result.startswith("equal"), reason


@pytest.mark.parametrize("database", DATABASES)
def test_whole_database(database: str, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--full"):
        pytest.skip("takes ten minutes; with --full")
    wrong = list[str]()
    for item in DATABASES[database](None):
        result, reason = outcome(item)
        if result in ("differs", "fails"):
            wrong.append(f"{item.name} {result}: {reason[:200]}")
    assert not wrong, "\n".join(wrong)
