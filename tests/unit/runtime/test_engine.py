"""What every engine promises, on XLA and IREE, and the registry."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence

import engine_programs as programs
import pytest
import torch

import torch2mlir
from torch2mlir.errors import EngineError, InputError
from torch2mlir.runtime.engine import (
    Engine,
    Executable,
    get_engine,
    host_tensor,
    register_engine,
    unregister_engine,
)
from torch2mlir.runtime.lowered import LoweredFunction


@pytest.fixture(params=["xla", "iree"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return get_engine(request.param)


def example(dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    return (torch.rand(shape) * 8).to(dtype) if dtype is not torch.bool else torch.rand(shape) > 0.5


@pytest.mark.share(4)
@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4)], ids=str)
def test_every_dtype(engine: Engine, shape: tuple[int, ...]) -> None:
    dtypes = list(programs.ELEMENT)
    run = programs.compiled(engine, programs.doubling_each(dtypes, shape), "stablehlo")
    given = [example(dtype, shape) for dtype in dtypes]
    for arguments in (given, [run.prepare(a) for a in given]):
        for dtype, a, out in zip(dtypes, given, run(arguments), strict=True):
            expected = a | a if dtype is torch.bool else a + a
            torch.testing.assert_close(
                out, expected, msg=lambda said, dtype=dtype: f"{dtype}: {said}"
            )
            assert out.dtype is dtype and out.is_contiguous(), dtype


def test_layouts(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(shape=(4, 6)), "stablehlo")
    flat = torch.rand(25)
    parameter = torch.nn.Parameter(torch.rand(4, 6))
    for a in (
        torch.rand(6, 4).t(),
        torch.rand(4, 12)[:, ::2],
        torch.rand(6).expand(4, 6),
        flat[1:].view(4, 6),
        parameter,
        torch.complex(torch.rand(4, 6), torch.rand(4, 6)).conj().imag,
        torch.rand(4, 6, requires_grad=True) * 2,
    ):
        for argument in (a, run.prepare(a)):
            (out,) = run([argument])
            assert not out.requires_grad
            torch.testing.assert_close(out, (a + a).detach())


def test_dimensions_of_one_with_odd_strides(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(shape=(1, 4, 1)), "stablehlo")
    a = torch.rand(40).as_strided((1, 4, 1), (7, 1, 9))
    torch.testing.assert_close(run([a])[0], a + a)


def test_results_share_no_memory(engine: Engine) -> None:
    run = programs.compiled(engine, programs.ALIASES, "stablehlo")
    a = torch.rand(4, 32)
    expected = [a, a.flatten(), a[:2], a + a, a + a, torch.tensor([1.0, 2.0])]
    expected = [t.clone() for t in expected]
    for argument in (a, run.prepare(a)):
        outs = run([argument])
        torch.testing.assert_close(outs, expected)
        for i, out in enumerate(outs):
            out.fill_(float(i))
        assert [out.unique().tolist() for out in outs] == [[float(i)] for i in range(6)]
        torch.testing.assert_close(a, expected[0])
    torch.testing.assert_close(run([a]), expected, msg="constants are not written through results")


def test_results_outlive_executable_and_arguments(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(shape=(1000,)), "stablehlo")
    outs = [run([torch.full((1000,), float(i))])[0] for i in range(20)]
    del run
    junk = [torch.full((1000,), -1.0) for _ in range(50)]
    assert [out.unique().tolist() for out in outs] == [[2.0 * i] for i in range(20)]
    del junk


def test_aligned_tensors_are_read_in_place(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(shape=(16,)), "stablehlo")
    base = torch.arange(64.0)
    weight = base[16:32]
    prepared = run.prepare(weight)
    assert prepared.shares_memory and prepared.pointer == weight.data_ptr()
    weight.add_(100)
    torch.testing.assert_close(run([prepared])[0], weight * 2)

    copied = run.prepare(base[1:17])
    assert not copied.shares_memory
    base.zero_()
    torch.testing.assert_close(run([copied])[0][:15], torch.arange(1.0, 16.0) * 2)
    assert not run.prepare(torch.rand(16, 2)[:, 0]).shares_memory


def test_results_are_exported_in_place(engine: Engine) -> None:
    """A result of 100 MB that was copied would take as much again."""
    run = programs.compiled(engine, programs.doubling(shape=(25_000_000,)), "stablehlo")
    a = torch.ones(25_000_000)
    resident = _resident_bytes()
    (out,) = run([a])
    assert out[-1] == 2 and _resident_bytes() - resident < 1.5 * a.nbytes


def _resident_bytes() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


@pytest.mark.share(2)
def test_many_prepared_arguments(engine: Engine) -> None:
    run = programs.compiled(engine, programs.sum_of(60), "stablehlo")
    x, weights = torch.rand(16), [torch.rand(16, 16) / 8 for _ in range(60)]
    prepared = [run.prepare(w) for w in weights]
    expected = x
    for w in weights:
        expected = w @ expected
    torch.testing.assert_close(run([x, *prepared])[0], expected)
    torch.testing.assert_close(run([x, *weights])[0], expected)


@pytest.mark.share(2)
def test_convolution(engine: Engine) -> None:
    run = programs.compiled(engine, programs.CONVOLUTION, "stablehlo")
    x, w = torch.rand(2, 3, 8, 8), torch.rand(4, 3, 3, 3)
    expected = torch.nn.functional.conv2d(x, w, padding=1)
    torch.testing.assert_close(run([x, w])[0], expected)


def test_entry_of_another_name(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(name="forward"), "stablehlo", "forward")
    torch.testing.assert_close(run([torch.ones(4)])[0], torch.full((4,), 2.0))
    with pytest.raises(EngineError, match="no function @main.*\n.*@forward"):
        programs.compiled(engine, programs.doubling(name="forward"), "stablehlo")


def test_no_arguments_no_results(engine: Engine) -> None:
    run = programs.compiled(engine, "module { func.func public @main() { return } }", "stablehlo")
    assert run([]) == []


@pytest.mark.share(2)
def test_calls_and_compiles_from_several_threads(engine: Engine) -> None:
    run = programs.compiled(engine, programs.sum_of(5), "stablehlo")
    weights = [run.prepare(torch.eye(16) * 2) for _ in range(5)]
    failures: list[object] = []

    def work(seed: int) -> None:
        try:
            x = torch.full((16,), float(seed))
            for _ in range(50):
                if not torch.equal(run([x, *weights])[0], x * 32):
                    failures.append(seed)
            own = programs.compiled(engine, programs.doubling(shape=(seed + 1,)), "stablehlo")
            if not torch.equal(own([torch.ones(seed + 1)])[0], torch.full((seed + 1,), 2.0)):
                failures.append(seed)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_bad_arguments(engine: Engine) -> None:
    run = programs.compiled(engine, programs.doubling(), "stablehlo")
    integers = torch.ones(4, dtype=torch.int32)
    for args, message in (
        ([], "takes 1 arguments, got 0"),
        ([torch.ones(5)], r"declared float32\[4\], got float32\[5\]"),
        ([integers], r"declared float32\[4\], got int32\[4\]"),
        ([run.prepare(integers)], "got int32"),
        ([4], "should be a tensor, got int"),
        ([torch.ones(4, device="meta")], "dense CPU tensors, got .* on meta"),
        ([torch.ones(4).to_sparse()], "dense CPU tensors, got torch.sparse_coo"),
    ):
        with pytest.raises(InputError, match=message):
            run(args)


@pytest.mark.parametrize(
    "text, message, op, location",
    [
        (
            programs.doubling().replace(
                "stablehlo.add %a, %a : tensor<4xf32>",
                '"stablehlo.transpose"(%a) <{permutation = array<i64: 3>}> :'
                " (tensor<4xf32>) -> tensor<4xf32>",
            ),
            "permutation",
            "stablehlo.transpose",
            "model.py:12",
        ),
        (
            programs.doubling().replace(
                "stablehlo.add %a, %a : tensor<4xf32>",
                "stablehlo.custom_call @nowhere(%a) : (tensor<4xf32>) -> tensor<4xf32>",
            ),
            "custom",
            None,
            None,
        ),
    ],
    ids=["verifier", "custom-call"],
)
def test_refused_programs(
    engine: Engine, text: str, message: str, op: str | None, location: str | None
) -> None:
    with pytest.raises(EngineError, match=message) as caught:
        programs.compiled(engine, text, "stablehlo")
    assert op is None or op in str(caught.value.op)
    assert location is None or location in str(caught.value.location)
    assert len(str(caught.value)) < 1500 and caught.value.hint


def test_wrong_dialect(engine: Engine) -> None:
    with pytest.raises(EngineError, match=f"'{engine.name}' does not take 'mhlo'"):
        programs.compiled(engine, programs.doubling(), "mhlo")


def test_host_tensor_shares_memory_when_it_can() -> None:
    a = torch.rand(3, 4, requires_grad=True)
    assert host_tensor(a).data_ptr() == a.data_ptr()
    assert host_tensor(a.t()).is_contiguous()


def test_unknown_engine_lists_the_known() -> None:
    with pytest.raises(EngineError, match="no engine 'tvm'.*\n.*iree, .*reference, xla"):
        get_engine("tvm")


def test_own_engines_are_made_once() -> None:
    class Mine(Engine):
        name = "mine"
        output_types = frozenset({"tosa"})

        def compile(self, function: LoweredFunction):
            raise NotImplementedError

    register_engine("mine", Mine)
    try:
        assert isinstance(get_engine("mine"), Mine) and get_engine("mine") is get_engine("mine")
    finally:
        unregister_engine("mine")
    with pytest.raises(EngineError, match="no engine 'mine'"):
        get_engine("mine")


class _Returning(Engine):
    """What somebody else wrote, with a mistake."""

    name = "returning"
    output_types = frozenset({"stablehlo"})

    def __init__(self, result: object) -> None:
        self.result = result

    def compile(self, function: LoweredFunction) -> Executable:
        result = self.result

        class Compiled(Executable):
            def prepare(self, tensor: torch.Tensor) -> torch.Tensor:
                return tensor

            def run(self, args: Sequence[object]) -> list[torch.Tensor]:
                return result  # type: ignore[return-value]

        return Compiled(function)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([torch.ones(7)], r"\(float32\[7\]\)"),
        ([torch.ones(2, 3).int()], r"\(int32\[2, 3\]\)"),
        ([], r"\(\)"),
        ([torch.ones(2, 3)] * 2, r"\(float32\[2, 3\], float32\[2, 3\]\)"),
        ([torch.ones(2, 3).numpy()], r"\(ndarray\)"),
        (None, r"\(NoneType\)"),
    ],
    ids=["shape", "dtype", "none", "two", "numpy", "nothing"],
)
def test_what_an_own_engine_returns_is_checked(result: object, said: str) -> None:
    model, x = torch.nn.Linear(3, 3).requires_grad_(False), torch.ones(2, 3)
    compiled = torch2mlir.compile(model, x, engine=_Returning(result))
    with pytest.raises(EngineError, match=f"returned {said} of @main .* declares .*2, 3"):
        compiled(x)


def test_what_is_no_engine_is_refused() -> None:
    class Unnamed(Engine):
        def compile(self, function: LoweredFunction) -> Executable:
            raise NotImplementedError

    for name, factory in (("nn", None), (3, Unnamed), ("nn", Engine)):
        with pytest.raises(EngineError, match="cannot register"):
            register_engine(name, factory)  # type: ignore[arg-type]
    model, x = torch.nn.Linear(3, 3).requires_grad_(False), torch.ones(2, 3)
    with pytest.raises(EngineError, match="Unnamed has no name and no output_types"):
        torch2mlir.compile(model, x, engine=Unnamed())
    with pytest.raises(EngineError, match="float is no engine"):
        torch2mlir.compile(model, x, engine=1.5)  # type: ignore[arg-type]


EXTRAS = {"xla": "xla", "iree": "iree", "onnxruntime": "ort", "openvino": "openvino"}
PACKAGES = ("jax", "iree.runtime", "iree.compiler", "onnxruntime", "openvino")


def test_the_registry_imports_no_engine_and_one_that_is_not_installed_names_the_extra() -> None:
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {PACKAGES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
import torch2mlir.runtime.engine
print("imported:", [name for name in {PACKAGES!r} if name in sys.modules])
sys.meta_path.insert(0, Missing())
from torch2mlir.errors import EngineError
from torch2mlir.runtime.engine import get_engine
for name in {list(EXTRAS)!r}:
    try:
        get_engine(name)
    except EngineError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "imported: []" in done.stdout, done.stderr
    for name, extra in EXTRAS.items():
        assert f"engine '{name}' is not installed" in done.stdout, done.stderr
        assert f"pip install 'torch2mlir[{extra}]'" in done.stdout
