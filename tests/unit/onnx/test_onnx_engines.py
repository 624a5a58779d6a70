"""What ONNX Runtime and OpenVINO promise: no shared results, weights seen when they change, nothing wrong in silence."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

import torch2mlir
from torch2mlir.errors import EngineError, InputError

KEYS = torch.tensor([[1, 1, 1, 0, 1], [0, 1, 1, 0, 1], [1, 0, 1, 0, 0], [0] * 5, [0, 0, 0, 0, 1]])
MASKS = {
    "booleans": KEYS.bool(),
    "numbers": torch.zeros(2, 1, 5, 5).masked_fill(KEYS == 0, -torch.inf),
}
ENGINES = ("onnxruntime", "openvino")
every_engine = pytest.mark.parametrize("engine", ENGINES)


def compiled(model: Any, *args: torch.Tensor, engine: str, **options: Any) -> Any:
    return torch2mlir.compile(model, *args, output_type="onnx", engine=engine, **options)


def agrees(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@every_engine
def test_results_share_no_memory(engine: str) -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> Any:
        return x, x + 0, w.view(-1), x, torch.ones(3)

    x, w = torch.rand(3), torch.rand(2, 2)
    f = compiled(program, x, w, engine=engine)
    first, second = f(x, w), f(x, w)
    tensors = [x, w, *first, *second]
    assert len({tensor.data_ptr() for tensor in tensors}) == len(tensors)
    kept = [tensor.clone() for tensor in first]
    f(x + 1, w + 1)
    for tensor, before in zip(first, kept, strict=True):
        assert torch.equal(tensor, before)


@every_engine
def test_weights_that_change_are_seen(engine: str) -> None:
    layer, x = nn.Linear(8, 4), torch.rand(2, 8)
    f = compiled(layer, x, engine=engine)
    for _ in range(5):
        agrees(f(x), layer(x).detach())
        with torch.no_grad():
            layer.weight.add_(0.5)
            layer.bias.mul_(2)


@every_engine
def test_one_program_for_all_sizes(engine: str) -> None:
    def program(x: torch.Tensor) -> Any:
        return x.cumsum(0), x.reshape(-1), torch.arange(x.shape[0]) * 2, x.mean(0)

    f = compiled(program, torch.rand(3, 4), engine=engine, dynamic_shapes=({0: Dim("n", min=1)},))
    for n in (3, 1, 7, 40):
        x = torch.rand(n, 4)
        agrees(f(x), program(x))
    assert len(f.shapes) == 1


@every_engine
def test_calls_from_many_threads(engine: str) -> None:
    layer = nn.Linear(16, 16)
    f = compiled(layer, torch.rand(4, 16), engine=engine)
    wrong = list[Any]()

    def work() -> None:
        for _ in range(20):
            x = torch.rand(4, 16)
            if not torch.allclose(f(x), layer(x), atol=1e-5):
                wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_half_floats_and_booleans_on_onnx_runtime() -> None:
    def program(x: torch.Tensor, m: torch.Tensor) -> Any:
        return x * 2 + 1, m & (x > 1), torch.where(m, x, -x)

    for dtype in (torch.float16, torch.bfloat16):
        x, m = torch.randn(3, 5).to(dtype), torch.rand(3, 5) > 0.5
        f = compiled(program, x, m, engine="onnxruntime")
        for got, want in zip(f(x, m), program(x, m), strict=True):
            assert got.dtype is want.dtype
            torch.testing.assert_close(got, want)


def test_integers_are_exact_on_onnx_runtime() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x.sum(), x.prod(1), x // y, x % y, x**3, x << 3, x >> 2, torch.fmod(x, y)

    large = torch.tensor([[2**62 + 1, -7, 5], [3, 2**61 + 7, -(2**63)]])
    divisor = torch.tensor([[3, -2, 7], [-5, 1000, -1]])
    f = compiled(program, large, divisor, engine="onnxruntime")
    divisor[1, 2] = 2  # eager's division of the least integer by -1 ends the process
    for got, want in zip(f(large, divisor), program(large, divisor), strict=True):
        assert torch.equal(got, want)


@every_engine
def test_integers_of_nothing(engine: str) -> None:
    """A constant without elements was none of known size to OpenVINO."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x * 3 + 2

    sizes = ({0: Dim.DYNAMIC},)
    f = compiled(program, torch.arange(4), engine=engine, dynamic_shapes=sizes)
    for size in (4, 0, 1):
        agrees(f(torch.arange(size)), program(torch.arange(size)))


def test_a_division_by_zero_does_not_end_the_process() -> None:
    f = compiled(torch.floor_divide, torch.tensor([4]), torch.tensor([2]), engine="onnxruntime")
    with pytest.raises(InputError, match="divides an integer by 0"):
        f(torch.tensor([4]), torch.tensor([0]))
    f(torch.tensor([-(2**63)]), torch.tensor([-1]))
    assert f(torch.tensor([9]), torch.tensor([2])).item() == 4


@pytest.mark.parametrize("dim", [0, 1])
def test_nan_on_onnx_runtime(dim: int) -> None:
    def program(x: torch.Tensor) -> Any:
        pooled = nn.functional.max_pool2d(x[None], 2)
        return x.amax(dim), x.argmin(dim), x.sort(dim), pooled, x.clamp(-1, 1), torch.sign(x)

    x = torch.randn(4, 4)
    f = compiled(program, x, engine="onnxruntime")
    for places in ((0, 1), (2, 3), (3, 0)):
        x[places] = torch.nan
        x[places[::-1]] = torch.inf
        for got, want in zip(
            torch.utils._pytree.tree_leaves(f(x)),
            torch.utils._pytree.tree_leaves(program(x)),
            strict=True,
        ):
            torch.testing.assert_close(got, want, equal_nan=True)


def test_openvino_is_refused_what_it_would_get_wrong() -> None:
    x = torch.rand(3)
    with pytest.raises(EngineError, match="64-bit floats in 32 bits"):
        compiled(torch.exp, x.double(), engine="openvino")
    with pytest.raises(EngineError, match="may leave those"):
        compiled(lambda x: x * x * x, torch.tensor([3]), engine="openvino")
    with pytest.raises(EngineError, match="the bits of a float"):
        compiled(torch.signbit, x, engine="openvino")
    with pytest.raises(EngineError, match="half floats in 32 bits"):
        compiled(torch.exp, x.half(), engine="openvino")
    f = compiled(torch.exp, x, engine="openvino")
    with pytest.raises(InputError, match="a NaN, which OpenVINO may lose"):
        f(torch.tensor([1.0, torch.nan, 2.0]))
    double = compiled(lambda x: x * 2, torch.tensor([3]), engine="openvino")
    assert double(torch.tensor([1000])).item() == 2000
    with pytest.raises(InputError, match="the integer 1099511627776"):
        double(torch.tensor([2**40]))


def test_openvino_counts_and_adds_up_at_positions() -> None:
    """Each place may get all that is scattered, which for numbers of things is less than 2**31; of others it says so."""

    def counted(kinds: torch.Tensor) -> torch.Tensor:
        return torch.zeros(5, dtype=torch.int64).scatter_add(0, kinds, torch.ones_like(kinds))

    def greatest(kinds: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
        return torch.zeros(5, dtype=torch.int64).scatter_reduce(0, kinds, of, "amax")

    def added(kinds: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
        return torch.zeros(5, dtype=torch.int64).scatter_add(0, kinds, of)

    kinds, of = torch.tensor([0, 3, 3, 1]), torch.tensor([7, 70_000, 3, -1])
    assert torch.equal(compiled(counted, kinds, engine="openvino")(kinds), counted(kinds))
    assert torch.equal(
        compiled(greatest, kinds, of, engine="openvino")(kinds, of), greatest(kinds, of)
    )
    f = compiled(added, kinds, torch.zeros_like(of), engine="openvino")
    assert torch.equal(f(kinds, of), added(kinds, of))
    with pytest.raises(InputError, match="the integer 1073741824"):
        f(kinds, of + 2**30 - 70_000)


@every_engine
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_attention_keeps_nan(engine: str, mask: torch.Tensor) -> None:
    """OpenVINO makes zeros of all NaNs in the result of a masked attention; only rows without keys are zeros."""

    def program(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> Any:
        return F.scaled_dot_product_attention(q.log(), k, k, attn_mask=mask)

    q, k = torch.rand(2, 2, 3, 5, 4).add(0.1).unbind(0)
    f = compiled(program, q, k, mask, engine=engine)
    for place in (0, 1, 2):
        q[1, place, place, 1] = -1.0
        expected = program(q, k, mask)
        assert expected.isnan().any() and (expected[:, :, 3] == 0).all()
        torch.testing.assert_close(f(q, k, mask), expected, rtol=1e-4, atol=1e-5, equal_nan=True)


@every_engine
@pytest.mark.parametrize("is_boolean", [True, False], ids=["booleans", "numbers"])
@pytest.mark.share(2)
def test_attention_of_any_length_keeps_nan(engine: str, is_boolean: bool) -> None:
    def program(q: torch.Tensor, keys: torch.Tensor) -> Any:
        seen = keys[:, None, None] & torch.ones_like(q[..., :1], dtype=torch.bool)
        mask = seen if is_boolean else torch.zeros(()).masked_fill(~seen, -torch.inf)
        return F.scaled_dot_product_attention(q.log(), q, q, attn_mask=mask)

    def arguments(batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        q, keys = torch.rand(batch, 2, length, 4).add(0.1), torch.rand(batch, length) > 0.3
        keys[0], keys[-1, 0] = False, True
        q[-1, 1, length // 2, 1] = -1.0
        return q, keys

    batch, length = Dim("batch", min=2, max=9), Dim("length", max=64)
    sizes = ({0: batch, 2: length}, {0: batch, 1: length})
    example = arguments(2, 5)
    f = compiled(program, *example, engine=engine, dynamic_shapes=sizes)
    for call in (example, arguments(3, 7), arguments(2, 2), arguments(2, 5)):
        expected = program(*call)
        assert expected[-1].isnan().any() and (expected[0] == 0).all()
        torch.testing.assert_close(f(*call), expected, rtol=1e-4, atol=1e-5, equal_nan=True)


@every_engine
def test_an_engine_that_refuses_says_so_when_compiling(engine: str) -> None:
    with pytest.raises(EngineError):
        compiled(torch.erf, torch.rand(3, dtype=torch.float64), engine=engine)


@every_engine
def test_sums_that_something_is_added_to(engine: str) -> None:
    b = torch.randn(2)
    for program in (lambda x: x.sum(2) + b, lambda x: x.mean(2) * b, lambda x: x.amax(2) - b):
        x = torch.randn(3, 2, 4)
        agrees(compiled(program, x, engine=engine)(x), program(x))


@every_engine
def test_positions_that_are_reflected(engine: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.pad(x, (2, 2, 1, 1), mode="reflect")

    x = torch.randn(1, 5, 6)
    agrees(compiled(program, x, engine=engine)(x), program(x))
