"""The lazy device: when something is computed, what is written back, what is cached, what is said when it cannot be."""

from __future__ import annotations

import runpy
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from math import inf
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

import torch2mlir
from torch2mlir import lazy

EXAMPLE = Path(__file__).parents[3] / "examples" / "lazy_training.py"


@pytest.fixture
def device() -> Iterator[torch.device]:
    with lazy.device(engine="xla") as opened:
        yield opened


def assert_close(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual.cpu(), expected)


@pytest.mark.parametrize(
    "ask",
    [
        lambda y: y.cpu(),
        lambda y: y.sum().item(),
        lambda y: y.tolist(),
        lambda y: str(y),
        lambda y: y.to("cpu", torch.float64),
        lambda y: bool((y > 0).any()),
        lambda y: y.cpu().numpy(),
        lambda _: lazy.mark_step(),
        lambda _: torch._lazy.mark_step(),
    ],
    ids=[
        "cpu",
        "item",
        "tolist",
        "print",
        "to",
        "bool",
        "numpy",
        "mark_step",
        "pytorch_mark_step",
    ],
)
def test_a_value_that_is_asked_for_is_computed(ask, device: torch.device) -> None:  # type: ignore[no-untyped-def]
    y = torch.ones(3, 4).to(device) * 2
    assert lazy.metrics().captures == 0
    ask(y)
    assert lazy.metrics().captures >= 1
    assert_close(y, torch.full((3, 4), 2.0))


def test_everything_pending_is_one_graph(device: torch.device) -> None:
    x = torch.randn(4)
    shared = x.to(device).exp()
    one, other = shared + 1, shared * 2
    assert_close(one, x.exp() + 1)
    assert_close(other, x.exp() * 2)
    assert lazy.metrics().captures == 1


def test_writes_through_views_are_seen(device: torch.device) -> None:
    x = torch.zeros(3, 4)
    y = x.to(device)
    for tensor in (x, y):
        tensor[1].add_(1)
        tensor.t()[2].mul_(5)
        tensor.view(-1)[0] = 7
    row = y[1]
    assert_close(y, x)
    y.add_(1)
    assert_close(row, x[1] + 1)
    assert_close(y, x + 1)


def test_batch_normalization_updates_its_statistics(device: torch.device) -> None:
    eager = nn.BatchNorm1d(4)
    model = deepcopy(eager).to(device)
    for seed in range(3):
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(seed))
        assert_close(model(x.to(device)), eager(x))
    for name, buffer in model.named_buffers():
        assert_close(buffer, dict(eager.named_buffers())[name])
    assert_close(model.eval()(x.to(device)), eager.eval()(x))


def test_statistics_are_updated_where_nobody_keeps_the_result(device: torch.device) -> None:
    eager = nn.ModuleList([nn.BatchNorm1d(4), nn.InstanceNorm1d(4, track_running_stats=True)])
    model = deepcopy(eager).to(device)
    for seed in range(3):
        x = torch.randn(8, 4, 5, generator=torch.Generator().manual_seed(seed))
        for norm, own in zip(model, eager, strict=True):
            norm(x.to(device))
            own(x)
        if seed:
            torch2mlir.lazy.mark_step()
    for name, buffer in model.named_buffers():
        assert_close(buffer, dict(eager.named_buffers())[name])


def test_tied_weights_are_updated_together(device: torch.device) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Linear(4, 4, bias=False)
            self.other = nn.Linear(4, 4, bias=False)
            self.other.weight = self.one.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.other(self.one(x))

    eager = Tied()
    model = deepcopy(eager).to(device)
    model.other.weight = model.one.weight  # PyTorch's move to the device has made two of them
    x = torch.randn(2, 4)
    for instance, argument in ((eager, x), (model, x.to(device))):
        update = torch.optim.SGD(instance.parameters(), lr=0.1)
        instance(argument).square().sum().backward()
        update.step()
    assert_close(model.one.weight.detach(), eager.one.weight.detach())


def test_random_numbers_are_drawn_once_and_repeat_with_the_seed(device: torch.device) -> None:
    def draw() -> torch.Tensor:
        torch.manual_seed(3)
        noise = torch.rand(1000, device=device)
        halves, twice = noise * 2, noise * 4
        lazy.mark_step()
        assert_close(halves * 2, twice.cpu())
        return noise.cpu()

    first = draw()
    assert 0.45 < first.mean() < 0.55
    assert_close(draw(), first)


def test_seeds_between_the_draws_of_a_step(device: torch.device) -> None:
    torch.manual_seed(3)
    one = torch.rand(100, device=device)
    torch.manual_seed(3)
    same = torch.rand(100, device=device)
    another = torch.rand(100, device=device)
    torch.manual_seed(5)  # after the draw, and before it is computed
    assert torch.equal(one.cpu(), same.cpu())
    assert not torch.equal(one.cpu(), another.cpu())
    torch.manual_seed(3)
    assert torch.equal(torch.rand(100, device=device).cpu(), one.cpu())


def test_what_draws_nothing_leaves_the_generator(device: torch.device) -> None:
    x = torch.ones(2, 3, 4).to(device)
    before = torch.get_rng_state()
    functional = torch.nn.functional
    for y in (
        functional.dropout(x, 0.5, training=False),
        functional.dropout(x, 0.0, training=True),
        functional.scaled_dot_product_attention(x, x, x),
    ):
        assert_close(y, torch.ones(2, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert_close(torch.zeros(3).to(device).bernoulli_(torch.ones(3).to(device)), torch.ones(3))
    assert not torch.equal(torch.get_rng_state(), before)


def test_a_number_that_changes_is_no_new_graph(device: torch.device) -> None:
    x = torch.randn(4)
    for factor in (0.25, 0.5, 0.75):
        assert_close(x.to(device) * factor + 0.1, x * factor + 0.1)
    assert (lazy.metrics().cache_misses, lazy.metrics().cache_hits) == (1, 2)


def test_exponents_are_numbers(device: torch.device) -> None:
    """PyTorch has kernels of its own for some, and the power by a tensor was computed: ``-0.0**0.5`` is ``-0.0``."""
    x = torch.tensor([-0.0, -inf, inf, 3.0])
    z = torch.complex(torch.tensor([-4.0, 3.0, 0.0, -2.0]), torch.tensor([-0.0, -0.0, 2.0, 0.0]))
    for exponent in (0.5, -0.5, 1.5, 0.5, 2, -1):
        for base in (x, z):
            actual, expected = (base.to(device) ** exponent).cpu(), base**exponent
            torch.testing.assert_close(actual, expected, equal_nan=True)
            for ours, theirs in zip(_parts(actual), _parts(expected), strict=True):
                assert torch.equal(ours.signbit() & (ours == 0), theirs.signbit() & (theirs == 0))


def _parts(x: torch.Tensor) -> list[torch.Tensor]:
    return [x.real, x.imag] if x.is_complex() else [x]


def test_exponents_that_are_tensors_are_no_numbers(device: torch.device) -> None:
    x = torch.tensor([0.5, 2.0, 3.0])
    for value in (0, 1, 2):
        count, factor = torch.tensor(value), torch.tensor(value + 0.5)
        assert_close(x.to(device) ** count.to(device), x**count)
        assert_close(x.to(device) ** factor.to(device), x**factor)
        assert_close(0.9 ** count.to(device), 0.9**count)
    assert lazy.metrics().cache_misses == 3


def test_a_size_that_changes_is_a_new_graph(device: torch.device) -> None:
    for count in (2, 3, 2):
        assert_close(torch.ones(count).to(device) + 1, torch.full((count,), 2.0))
        assert_close(torch.arange(count, device=device), torch.arange(count))
    assert lazy.metrics().cache_misses == 4
    assert lazy.metrics().cache_hits == 2


CARRIED = {
    "where": lambda x: torch.where(x > 0, x, 2.0),
    "where_of_a_float_and_integers": lambda x: torch.where(x > 0, x.to(torch.int32), 2.5),
    "index": lambda x: x[torch.tensor([0, 2, 2]), torch.tensor([1, 0, 3])],
    "sin": torch.sin,
    "scatter": lambda x: x.scatter(1, torch.zeros(3, 1, dtype=torch.int64, device=x.device), 7.0),
    "two_results": lambda x: x.sort(dim=1, descending=True),
    "four_operands": lambda x: torch.index_put(
        x, [torch.tensor([0, 2]), torch.tensor([1, 3])], torch.ones(2, device=x.device)
    ),
    "in_place_through_a_view": lambda x: torch.atan_(x.clone()[1:]),
    "parts": lambda x: torch.stack(x.unbind(1)),
    "writes_within": lambda x: x * torch.hann_window(4, device=x.device),
    "nothing": lambda x: torch.eye(3, 4, device=x.device) + x,
    "bool": lambda x: torch.isposinf(x / 0).all(dim=1),
}
"""Calls the device has no graph node for."""


@pytest.mark.parametrize("name", CARRIED)
def test_a_call_without_a_graph_node_is_compiled(name: str, device: torch.device) -> None:
    call = CARRIED[name]
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    expected = call(x.clone())
    actual = pytree.tree_map(lambda tensor: tensor.cpu(), call(x.to(device)))
    torch.testing.assert_close(
        tuple(pytree.tree_leaves(actual)), tuple(pytree.tree_leaves(expected))
    )
    assert lazy.metrics().fallbacks == {}


def test_gradients_go_through_carried_calls(device: torch.device) -> None:
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    gradients = []
    for place in (torch.device("cpu"), device):
        leaf = x.clone().to(place).requires_grad_()
        rows = leaf[torch.tensor([0, 2, 2], device=place)]
        torch.where(rows > 0, rows.sin(), rows.atan()).cumsum(0).sum().backward()
        gradients.append(leaf.grad.cpu())  # type: ignore[union-attr]
    assert_close(gradients[1], gradients[0])
    assert (lazy.metrics().captures, lazy.metrics().fallbacks) == (1, {})


def test_random_numbers_of_carried_calls_are_drawn_each_for_itself(device: torch.device) -> None:
    p = torch.full((1000,), 0.5).to(device)
    one, other = torch.bernoulli(p), torch.bernoulli(p)
    twice = one * 2
    lazy.mark_step()
    assert_close(twice, one.cpu() * 2)
    assert 0.4 < (one.cpu() == other.cpu()).float().mean() < 0.6


def test_a_carried_call_keeps_the_types_of_its_constants(device: torch.device) -> None:
    for value, dtype in ((1, torch.int64), (True, torch.bool), (1.0, torch.float32)):
        filled = torch.full_like(torch.zeros(2, dtype=dtype), value).to(device)
        assert_close(filled.roll(1), torch.full((2,), value))


@pytest.mark.parametrize("shape", [(2,), (2, 3, 4, 5)])
def test_pytorch_refuses_to_run_a_carrier(shape: tuple[int, ...], device: torch.device) -> None:
    pending = torch.ones(shape).to(device).sin()
    refusal = "weight should have|expected (stride|padding)"
    with ThreadPoolExecutor() as pool, pytest.raises(RuntimeError, match=refusal):
        pool.submit(pending.cpu).result()  # no device of ours is open there
    with pytest.raises(RuntimeError, match=refusal):  # PyTorch keeps the error for the next reader
        pending.cpu()
    assert_close(pending, torch.ones(shape).sin())


def test_a_generator_of_its_own_is_refused(device: torch.device) -> None:
    with pytest.raises(torch2mlir.CaptureError, match="default generator only"):
        torch.bernoulli(torch.ones(8).to(device), generator=torch.Generator())


def test_what_pytorch_runs_itself_is_counted(device: torch.device) -> None:
    x = torch.randn(4)
    y = x.to(device)[x.to(device) > 0] + 1
    assert_close(y, x[x > 0] + 1)
    assert lazy.metrics().fallbacks == {"aten::index": 1}
    assert "run by PyTorch: aten::index x1" in str(lazy.metrics())
    lazy.reset_metrics()
    assert lazy.metrics() == lazy.Metrics()


def test_the_captured_computation_can_be_read(device: torch.device) -> None:
    y = torch.ones(2, 3).to(device).tanh()
    raw = str(lazy.get_mlir(y))
    assert "torch.aten.tanh" in raw and "!torch.vtensor<[2,3],f32>" in raw
    assert "stablehlo.tanh" in str(lazy.get_mlir([y], "stablehlo"))
    lazy.mark_step()
    last = lazy.last_computation()
    assert str(last) == raw
    assert "aten::tanh" in last.graph and "stablehlo.tanh" in last.text()


@pytest.mark.parametrize(
    ("engine", "output_type"), [("reference", "linalg-on-tensors"), ("iree", "tosa")]
)
@pytest.mark.share(2)
def test_other_engines_and_dialects(engine: str, output_type: str) -> None:
    x = torch.randn(3, 4)
    with lazy.device(engine=engine, output_type=output_type) as device:
        y = (x.to(device) @ x.t().to(device)).relu()
    assert_close(y, (x @ x.t()).relu())  # computed when the context closed


@pytest.mark.share(2)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_training_loop_matches_eager_and_compiles_twice(
    optimizer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    example = runpy.run_path(str(EXAMPLE))
    assert example["main"](["--optimizer", optimizer, "--steps", "50"]) == 0
    counts = lazy.metrics()
    assert (counts.captures, counts.cache_hits, counts.cache_misses) == (50, 48, 2)
    assert counts.fallbacks == {}
    assert "cache hits" in capsys.readouterr().out
    assert "captures 50: 48 cache hits, 2 misses, 0 evictions" in str(counts)


def test_the_graph_that_has_not_run_for_longest_is_dropped() -> None:
    with lazy.device(cache_size=2) as device:
        for size in (2, 3, 2, 4, 2, 3):  # 4 takes the place of 3, and 3 that of 4
            assert_close(torch.ones(size).to(device) + 1, torch.full((size,), 2.0))
        counts = lazy.metrics()
    assert (counts.cache_misses, counts.cache_hits, counts.cache_evictions) == (4, 2, 2)


def test_a_smaller_last_batch_is_one_more_compilation(device: torch.device) -> None:
    model = nn.Linear(4, 2).to(device)
    update = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for size in (8, 8, 3):
            update.zero_grad()
            model(torch.ones(size, 4).to(device)).sum().backward()
            update.step()
            lazy.mark_step()
    # the first step of a loop is a graph of its own
    assert (lazy.metrics().cache_misses, lazy.metrics().cache_hits) == (3, 3)


def test_tensors_of_the_device_are_copied_and_saved(tmp_path: Path, device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    pending = torch.arange(3.0).to(device).sin()
    assert_close(deepcopy(pending), torch.arange(3.0).sin())
    assert_close(deepcopy(model).weight.detach(), model.weight.detach().cpu())
    torch.save({"pending": pending.cos(), **model.state_dict()}, tmp_path / "saved.pt")
    loaded = torch.load(tmp_path / "saved.pt")
    assert loaded["weight"].device.type == "lazy"
    assert_close(loaded["pending"], torch.arange(3.0).sin().cos())
    on_host = torch.load(tmp_path / "saved.pt", map_location="cpu")
    torch.testing.assert_close(on_host["weight"], model.weight.detach().cpu())


def test_tensors_outlive_the_context_and_an_exception_in_it() -> None:
    with lazy.device() as device:
        kept = torch.arange(3.0).to(device).sin()
    with pytest.raises(ValueError, match="of the program"), lazy.device() as device:
        broken_off = kept.sin()
        raise ValueError("of the program")
    assert_close(broken_off, torch.arange(3.0).sin().sin())
    with lazy.device():
        assert_close(broken_off + kept, torch.arange(3.0).sin().sin() + torch.arange(3.0).sin())


def test_two_threads_with_two_engines() -> None:
    engines = {"xla": "stablehlo", "reference": "linalg-on-tensors"}
    both_open = threading.Barrier(len(engines), timeout=60)

    def run(engine: str) -> tuple[torch.Tensor, int]:
        with lazy.device(engine=engine, output_type=engines[engine]) as device:
            y = torch.arange(3.0).to(device).sin()
            both_open.wait()
            torch._lazy.mark_step()
            return y.cpu(), lazy.metrics().captures

    with ThreadPoolExecutor() as pool:
        for values, captures in pool.map(run, engines):
            torch.testing.assert_close(values, torch.arange(3.0).sin())
            assert captures == 1


def test_errors_say_what_to_do(device: torch.device) -> None:
    with pytest.raises(torch2mlir.InputError, match="tensor on cpu"):
        lazy.get_mlir(torch.ones(2))
    with pytest.raises(torch2mlir.InputError, match="no computation is pending"):
        lazy.get_mlir(torch.ones(2).to(device))
    with (
        pytest.raises(torch2mlir.Torch2MLIRError, match="open in this thread already"),
        lazy.device(),
    ):
        pass
    with pytest.raises(torch2mlir.CaptureError, match="nothing has been computed"):
        lazy.last_computation()


def test_errors_outside_of_the_context() -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError, match="not open in this thread"):
        lazy.mark_step()
    with (
        pytest.raises(torch2mlir.Torch2MLIRError, match="cannot be run"),
        lazy.device(output_type="torch"),
    ):
        pass
    with (
        pytest.raises(torch2mlir.Torch2MLIRError, match="cache_size is 0"),
        lazy.device(cache_size=0),
    ):
        pass
    with (
        pytest.raises(torch2mlir.EngineError, match="does not take"),
        lazy.device(engine="xla", output_type="tosa"),
    ):
        pass


def test_a_default_device_of_the_user_is_not_ours(device: torch.device) -> None:
    with device:
        x = torch.arange(3.0) + 1
        lazy.mark_step()
    assert_close(x, torch.tensor([1.0, 2.0, 3.0]))


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "function",
    [torch.std, lambda x: torch.std(x, 1).sum(), lambda x: torch.svd(x)[1].sum(), torch.logdet],
    ids=["std", "std.dim", "svd", "logdet"],
)
def test_calls_whose_nodes_have_no_derivative_are_differentiated(function, device) -> None:  # type: ignore[no-untyped-def]
    generator = torch.Generator().manual_seed(3)
    values = torch.randn(4, 4, generator=generator)
    values = values @ values.T + torch.eye(4)
    here, there = values.to(device).requires_grad_(), values.clone().requires_grad_()
    function(here).backward()
    function(there).backward()
    torch.testing.assert_close(here.grad.cpu(), there.grad, rtol=1e-3, atol=1e-4)


def test_a_graph_that_cannot_be_compiled_leaves_later_ones_alone(device: torch.device) -> None:
    x = torch.randn(3, 4).to(device)
    refused = (x + 1) * 2
    with pytest.raises(torch2mlir.Torch2MLIRError):
        refused.as_strided((2, 2), (1, 1))
    del refused
    y = x * 3
    lazy.mark_step()
    assert_close(y, x.cpu() * 3)


@pytest.mark.parametrize("transposed", [False, True])
def test_short_time_fourier_transform_of_a_result(transposed: bool, device: torch.device) -> None:
    x, window = torch.randn(64, 64), torch.hann_window(16)

    def transform(x: torch.Tensor, window: torch.Tensor) -> torch.Tensor:
        x = (x + 1).T if transposed else x + 1
        return torch.stft(x, 16, 4, window=window, center=False, return_complex=True)

    actual = transform(x.to(device), window.to(device)).cpu()
    torch.testing.assert_close(actual, transform(x, window), rtol=1e-4, atol=1e-4)


@pytest.mark.share(4)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.float16, torch.float64])
def test_numbers_have_no_say_in_dtypes(device: torch.device, dtype: torch.dtype) -> None:
    for x in (torch.tensor(7, dtype=dtype), torch.tensor([7, 8], dtype=dtype)):
        on_device = x.to(device)
        assert_close(on_device % 3, x % 3)
        assert_close(torch.fmod(on_device, 2.5), torch.fmod(x, 2.5))
        assert_close(torch.remainder(9, on_device), torch.remainder(9, x))
        if not dtype.is_floating_point:
            assert_close((on_device ^ 5) & 6, (x ^ 5) & 6)


def test_writes_to_windows_are_refused_and_gradients_of_windows_are_not(
    device: torch.device,
) -> None:
    """Functionalization makes zero what no window covers."""
    with pytest.raises(torch2mlir.CaptureError, match="windows of a tensor"):
        torch.arange(3.0).to(device).unfold(0, 2, 2).add_(1)
    x, y = torch.arange(4.0).requires_grad_(), torch.arange(4.0).to(device).requires_grad_()
    for leaf in (x, y):
        (leaf.unfold(0, 2, 1) ** 2).sum().backward()
    torch.testing.assert_close(y.grad.cpu(), x.grad)  # type: ignore[union-attr]


def test_a_mask_with_more_elements_than_the_tensor(device: torch.device) -> None:
    x, mask = torch.arange(4), torch.arange(12).reshape(3, 4) % 2 == 0
    filled = x.to(device).masked_fill(mask.to(device), 7)
    assert_close(filled.expand(2, 3, 4) + 1, x.masked_fill(mask, 7).expand(2, 3, 4) + 1)
    assert_close(
        x.to(device).masked_fill(mask.to(device), torch.tensor(5).to(device)),
        x.masked_fill(mask, torch.tensor(5)),
    )


def test_numbers_drawn_between_bounds(device: torch.device) -> None:
    drawn = torch.randint(3, 6, (500,), device=device).cpu()
    assert set(drawn.tolist()) == {3, 4, 5}


def test_frequencies_made_on_the_device(device: torch.device) -> None:
    with device:
        assert_close(torch.fft.fftfreq(6, 0.1), torch.fft.fftfreq(6, 0.1, device="cpu"))
        assert_close(torch.fft.rfftfreq(7), torch.fft.rfftfreq(7, device="cpu"))


def test_powers_beyond_what_a_float_holds(device: torch.device) -> None:
    x, power = torch.tensor([6e-8, -1e-30, 0.0]), torch.tensor([140, 200, 300])
    expected = torch.tensor([6e-8 * 2.0**140, -1e-30 * 2.0**200, 0.0])
    assert_close(torch.ldexp(x.to(device), power.to(device)), expected)


def test_conjugates_in_what_pytorch_computes_while_the_device_is_open(device: torch.device) -> None:
    matrix = torch.randn(5, 3, dtype=torch.complex64)
    identity = torch.eye(3, dtype=torch.complex64)
    for inverse in (torch.linalg.pinv(matrix), torch.linalg.pinv(matrix.to(device)).cpu()):
        torch.testing.assert_close(inverse @ matrix, identity, rtol=1e-4, atol=1e-4)


def test_copies_to_tensors_elsewhere() -> None:
    """A model on the CPU takes the state of one on the device; PyTorch's functionalization refuses the copies."""
    model, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    with lazy.device() as device:
        trained = deepcopy(model).to(device)
        for _ in range(3):
            x = torch.randn(4, 3, device=device)
            trained.zero_grad()
            trained(x).square().sum().backward()
            with torch.no_grad():
                for parameter in trained.parameters():
                    parameter -= 0.1 * parameter.grad
            other.load_state_dict(trained.state_dict())
            table = torch.zeros(3, 4)
            table[1, :2] = trained.bias.detach()
            table[torch.tensor([0, 2], device=device)] = x[0, 0].detach()
            assert other.weight.equal(trained.weight.cpu()) and other.bias.equal(trained.bias.cpu())
            assert table[1, :2].equal(trained.bias.cpu()) and table[2, 3] == x[0, 0].cpu()
    assert other.weight.requires_grad and not other.weight.equal(model.weight)


def test_what_is_recorded_in_inference_mode_is_computed_in_any() -> None:
    x = torch.randn(2, 3)
    with lazy.device(engine="xla") as device:
        ordinary = x.to(device) * 2
        with torch.inference_mode():
            inferred = ordinary.t() + 1
            lazy.mark_step()
            later = inferred * 3
        lazy.mark_step()
        torch.testing.assert_close(later.cpu(), (x * 2).t() * 3 + 3)
        assert later.is_inference() and not ordinary.is_inference()
        torch.testing.assert_close((ordinary + 1).cpu(), x * 2 + 1)


def test_views_of_weights_in_inference_mode() -> None:
    table, x = torch.randn(5, 4), torch.randn(2, 3)

    def forward(x: Tensor, table: Tensor) -> Tensor:
        first, second = table[:3, 1:].t().contiguous().split([1, 2])
        return (
            x
            @ torch.cat([first.expand(3, 3), table.view(4, 5)[1:, :3]], 1)
            @ second.mT.repeat(2, 1)
        )

    wanted = forward(x, table)
    with lazy.device(engine="xla") as device:
        table = nn.Parameter(table.to(device))
        for _ in range(2):
            with torch.inference_mode():
                found = forward(x.to(device), table)
            torch.testing.assert_close(found.cpu(), wanted)


@pytest.mark.parametrize("lengths", [[5, 3], [2, 4]])
def test_packed_lines_go_through_recurrent_layers(lengths: list[int]) -> None:
    """PyTorch reads on the CPU how many lines have each step, and its device kept that too."""
    layer, x = nn.GRU(3, 4, batch_first=True, bidirectional=True), torch.randn(2, 5, 3)

    def forward(x: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(layer(packed)[0], True, padding_value=-1)[0]

    wanted = forward(x)
    wanted.square().sum().backward()
    gradients = [parameter.grad for parameter in layer.parameters()]
    layer.zero_grad()
    with lazy.device(engine="xla") as device:
        layer.to(device)
        found = forward(x.to(device))
        found.square().sum().backward()
        torch.testing.assert_close(found.cpu(), wanted)
        for parameter, gradient in zip(layer.parameters(), gradients, strict=True):
            assert parameter.grad is not None and gradient is not None
            torch.testing.assert_close(parameter.grad.cpu(), gradient)
