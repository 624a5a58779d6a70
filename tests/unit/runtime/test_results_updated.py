"""Results of one program that another one updates: in place, without a copy, and right wherever somebody looks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.profiler import profile

from tests.dynamo.agreement import compiled

SIZES = 1, 4, 64, 16


def fresh_cache(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What a prompt makes: keys and values of all places."""
    return torch.zeros(SIZES) + x, torch.ones(SIZES) * x


def step(
    keys: torch.Tensor, values: torch.Tensor, place: torch.Tensor, new: torch.Tensor
) -> torch.Tensor:
    """One token: reads both, and writes to both."""
    keys.index_copy_(2, place, new)
    values.index_copy_(2, place, new * 2)
    return keys.sum(2) + values.sum(2)


@pytest.fixture(scope="module")
def programs() -> tuple[Callable[..., Any], Callable[..., Any]]:
    return compiled(fresh_cache, {"fallback": False}), compiled(step, {"fallback": False})


def token(place: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([place]), torch.randn(1, 4, 1, 16)


def copies(call: Callable[[], Any]) -> int:
    """How many copies of as many elements as a cache has PyTorch makes in a call."""
    with profile(record_shapes=True) as record:
        call()
    shapes = [e.input_shapes for e in record.events() if e.name in ("aten::copy_", "aten::clone")]
    return sum(list(SIZES) in each for each in shapes)


@torch.no_grad()
def test_no_copy_a_token(programs: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    ours, theirs = programs[0](torch.ones(())), fresh_cache(torch.ones(()))
    addresses = set[tuple[int, int]]()
    programs[1](*programs[0](torch.ones(())), *token(0))  # compiles
    for place in range(4):
        given = token(place)
        result = list[torch.Tensor]()
        assert copies(lambda: result.append(programs[1](*ours, *given))) == 0  # noqa: B023
        torch.testing.assert_close(result[0], step(*theirs, *given))
        assert all(map(torch.equal, ours, theirs))
        addresses.add((ours[0].data_ptr(), ours[1].data_ptr()))
    assert len(addresses) == 1
    assert copies(lambda: ours[0].copy_(ours[1])) == 1


@torch.no_grad()
def test_generated_text_has_no_copy_a_token() -> None:
    """The cache of transformers is born in the compiled prompt."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=67,
        hidden_size=64,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=SIZES[2] + 1,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    twin = copy.copy(model)
    twin.forward = compiled(model.forward, {"fallback": False})
    settings = {"do_sample": False, "disable_compile": True, "cache_implementation": "static"}

    def text(of: Any, prompt: torch.Tensor) -> torch.Tensor:
        count = SIZES[2] + 1 - prompt.shape[1]
        return of.generate(prompt, max_new_tokens=count, **settings)  # type: ignore[no-any-return]

    text(twin, torch.randint(1, 67, (1, SIZES[2] - 4)))
    prompt = torch.randint(1, 67, (1, SIZES[2] - 4))
    found = list[torch.Tensor]()
    assert copies(lambda: found.append(text(twin, prompt))) == 0
    assert torch.equal(found[0], text(model, prompt))


LOOKS: dict[str, Callable[[torch.Tensor], Any]] = {
    "view": lambda t: t[:, 1:],
    "flat": lambda t: t.view(-1),
    "detached": lambda t: t.detach(),
    "numpy": lambda t: t.numpy(),
    "dlpack": torch.from_dlpack,
    "storage": lambda t: torch.tensor([]).set_(t.untyped_storage(), 0, t.shape, t.stride()),
}


@pytest.mark.parametrize("look", LOOKS)
@torch.no_grad()
def test_whoever_looks_sees_the_update(
    programs: tuple[Callable[..., Any], Callable[..., Any]], look: str
) -> None:
    """What shares memory with a cache goes on sharing it, whether it was taken before or between updates."""
    ours, theirs = programs[0](torch.ones(())), fresh_cache(torch.ones(()))
    seen = list[tuple[Any, Any]]()
    for place in range(4):
        seen.append((LOOKS[look](ours[0]), LOOKS[look](theirs[0])))
        given = token(place)
        torch.testing.assert_close(programs[1](*ours, *given), step(*theirs, *given))
        assert all(map(torch.equal, ours, theirs))
        for mine, wanted in seen:
            assert torch.equal(torch.as_tensor(mine), torch.as_tensor(wanted))


@torch.no_grad()
def test_copies_and_other_results_stay_as_they_are(
    programs: tuple[Callable[..., Any], Callable[..., Any]],
) -> None:
    one, other = programs[0](torch.ones(())), programs[0](torch.ones(()))
    results, known = list[torch.Tensor](), list[torch.Tensor]()
    for place in range(4):
        kept, cloned = copy.deepcopy(one), one[0].clone()
        before = one[0].tolist()
        results.append(programs[1](*one, *token(place)))
        known.append(results[-1].clone())
        assert kept[0].tolist() == before == cloned.tolist()
        assert all(map(torch.equal, results, known))
        assert torch.equal(other[0], torch.ones(SIZES)) and torch.equal(other[1], torch.ones(SIZES))
        if place == 1:  # the copy goes on by itself
            given, mine = token(3), copy.deepcopy(kept)
            torch.testing.assert_close(programs[1](*kept, *given), step(*mine, *given))
            assert all(map(torch.equal, kept, mine))


@pytest.fixture
def alone() -> Iterator[None]:
    """What was compiled for two tensors is not guarded against parts of one, in PyTorch's own backends neither."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


PAIRS: dict[str, Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]] = {
    "twice": lambda cache: (cache, cache),
    "view of the whole": lambda cache: (cache, cache.view_as(cache)),
    "two views": lambda cache: (cache.detach(), cache.detach()),
}


@pytest.mark.share(4)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.usefixtures("alone")
@torch.no_grad()
def test_two_caches_of_one_memory(
    programs: tuple[Callable[..., Any], Callable[..., Any]], pair: str
) -> None:
    run, both = compiled(step, {"fallback": False}), PAIRS[pair]
    ours, theirs = programs[0](torch.ones(()))[0], torch.ones(SIZES)
    for place in range(3):
        given = token(place)
        torch.testing.assert_close(run(*both(ours), *given), step(*both(theirs), *given))
        assert torch.equal(ours, theirs)


@pytest.mark.usefixtures("alone")
@torch.no_grad()
def test_caches_that_are_parts_of_one_result(
    programs: tuple[Callable[..., Any], Callable[..., Any]],
) -> None:
    make, both = compiled(torch.exp, {"fallback": False}), torch.zeros(2, *SIZES)
    ours, theirs = make(both), torch.exp(both)
    for place in range(3):
        given = token(place)
        torch.testing.assert_close(programs[1](*ours, *given), step(*theirs, *given))
        assert torch.equal(ours, theirs)


@torch.no_grad()
def test_updated_and_read_by_its_own_maker(
    programs: tuple[Callable[..., Any], Callable[..., Any]],
) -> None:
    """A cache that is an argument of the prompt's program again, and one that eager mode writes to between."""
    double = compiled(lambda x: x * 2, {"fallback": False})
    ours, theirs = programs[0](torch.ones(())), fresh_cache(torch.ones(()))
    for place in range(3):
        given = token(place)
        torch.testing.assert_close(programs[1](*ours, *given), step(*theirs, *given))
        torch.testing.assert_close(double(ours[0]), theirs[0] * 2)
        for each in (ours[0], theirs[0]):
            each[:, 0] += 1
        assert torch.equal(ours[0], theirs[0])
