"""A user's op from torch.library to every engine: by its body, a decomposition or a lowering in the user's own file."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import nn

import torch2mlir
from torch2mlir.contract.target import lowered_targets
from torch2mlir.conversion import registry
from torch2mlir.dialects import stablehlo, tosa
from torch2mlir.transforms.decompositions import registry as decompositions

NAME = "torch2mlir_own::wave"


@pytest.fixture
def wave() -> Iterator[Any]:
    """``wave(x) = cos(x)``, opaque to PyTorch's decompositions."""
    with torch.library._scoped_library("torch2mlir_own", "FRAGMENT") as library:
        library.define("wave(Tensor x) -> Tensor")
        library.impl("wave", torch.cos, "CPU")
        library._register_fake("wave", torch.empty_like)
        yield lambda x: torch.ops.torch2mlir_own.wave(x) + 1


@pytest.fixture(autouse=True)
def registries_as_they_were() -> Iterator[None]:
    for target in lowered_targets():
        registry.lowering_functions(target)
    lowerings = {target: dict(registry._LOWERINGS[target]) for target in lowered_targets()}
    own = {target: set(registry._OWN[target]) for target in lowered_targets()}
    yield
    for target in lowered_targets():
        registry._LOWERINGS[target].clear()
        registry._LOWERINGS[target].update(lowerings[target])
        registry._OWN[target].clear()
        registry._OWN[target].update(own[target])


def test_to_stablehlo(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "stablehlo")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(stablehlo.CosineOp, x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x)
    torch.testing.assert_close(compiled(x), wave(x))


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: None, "returned a NoneType"),
        (lambda x: "x", "returned a str"),
        (lambda x: torch.ones(7), "returned a Tensor where a tensor of its own"),
        (lambda x: (x, x), "returned 2 values"),
    ],
)
def test_what_no_lowering_returns(wave: Any, returned: Any, said: str) -> None:
    """Each was a raw error that named no op."""
    torch2mlir.lowering(NAME, "stablehlo")(lambda lower, x: returned(x))
    with pytest.raises(torch2mlir.Torch2MLIRError, match=f"torch2mlir_own.wave.*{said}"):
        torch2mlir.compile(wave, torch.ones(7))


def test_a_lowering_that_raises_is_named(wave: Any) -> None:
    def unlucky(lower: Any, x: Any) -> Any:
        return 1 / 0

    torch2mlir.lowering(NAME, "stablehlo")(unlucky)
    with pytest.raises(
        torch2mlir.UnsupportedOpError, match=r"unlucky' raises ZeroDivisionError(.|\n)*\.wave"
    ):
        torch2mlir.compile(wave, torch.ones(7))


def test_to_linalg(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "linalg-on-tensors")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(lambda s, element: s("cos", element), x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x, output_type="linalg-on-tensors", engine="reference")
    torch.testing.assert_close(compiled(x), wave(x))


def test_to_tosa(wave: Any) -> None:
    @torch2mlir.lowering(NAME, "tosa")
    def lower_wave(lower: Any, x: Any) -> Any:
        return lower.elementwise(tosa.CosOp, x)

    x = torch.linspace(-3, 3, 7)
    compiled = torch2mlir.compile(wave, x, output_type="tosa")
    torch.testing.assert_close(compiled(x), wave(x))


def test_a_lowering_keeps_an_op_whole_that_would_be_decomposed() -> None:
    @torch2mlir.lowering("aten::gelu", "stablehlo")
    def lower_gelu(lower: Any, x: Any, approximate: str) -> Any:
        assert approximate == "none"
        return lower.elementwise(stablehlo.NegOp, x)

    x = torch.randn(5)
    assert torch.equal(torch2mlir.compile(nn.GELU(), x)(x), -x)
    linalg = torch2mlir.compile(nn.GELU(), x, output_type="linalg-on-tensors", engine="reference")
    torch.testing.assert_close(linalg(x), nn.functional.gelu(x))


def test_kept_ops_stay_whole_in_the_contract() -> None:
    module = torch2mlir.export_and_import(
        nn.GELU(), torch.ones(3), output_type="torch", backend_legal_ops=["aten.gelu"]
    )
    assert "torch.aten.gelu" in str(module)
    once = torch2mlir.export_and_import(
        nn.GELU(),
        torch.ones(3),
        output_type="torch",
        backend_legal_ops=(name for name in ["aten::gelu"]),  # type: ignore[arg-type]
    )
    assert "torch.aten.gelu" in str(once)
    for operator in (torch.ops.aten.gelu, torch.ops.aten.gelu.default):
        named = torch2mlir.export_and_import(
            nn.GELU(), torch.ones(3), output_type="torch", backend_legal_ops=[operator]
        )
        assert "torch.aten.gelu" in str(named)


@pytest.mark.parametrize("names", ["aten.gelu", ["aten.nosuch"], ["gelu"]])
def test_kept_ops_that_are_none_are_refused(names: Any) -> None:
    """They were decomposed without a word."""
    with pytest.raises(torch2mlir.InputError, match="backend_legal_ops"):
        torch2mlir.export_and_import(
            nn.GELU(), torch.ones(3), output_type="torch", backend_legal_ops=names
        )


# decompositions

ENGINES = {"stablehlo": "xla", "linalg-on-tensors": "reference", "tosa": "iree"}


@pytest.fixture
def decompositions_as_they_were() -> Iterator[None]:
    before = dict(decompositions._OURS)
    yield
    decompositions._OURS.clear()
    decompositions._OURS.update(before)
    decompositions.table.cache_clear()


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    with torch.library._scoped_library("torch2mlir_own", "FRAGMENT") as fragment:
        yield fragment


def _opaque(library: torch.library.Library, name: str, kernel: Any, key: str) -> Any:
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, kernel, key)
    library._register_fake(name, torch.empty_like)
    return getattr(torch.ops.torch2mlir_own, name)


@pytest.mark.parametrize("output_type", ENGINES)
@pytest.mark.share(2)
def test_a_custom_op_is_its_python_body(output_type: str) -> None:
    @torch.library.custom_op("torch2mlir_own::cubes", mutates_args=())
    def cubes(x: torch.Tensor, factor: float) -> torch.Tensor:
        return x**3 * factor

    cubes.register_fake(lambda x, factor: torch.empty_like(x))
    dynamic = {0: torch.export.Dim("B")}
    compiled = torch2mlir.compile(
        lambda x: cubes(x, 2.0),
        torch.ones(4, 3),
        output_type=output_type,
        engine=ENGINES[output_type],
        dynamic_shapes=(dynamic,),
    )
    x = torch.randn(6, 3)
    torch.testing.assert_close(compiled(x), 2 * x**3)


def test_a_composite_kernel_is_traced(library: torch.library.Library) -> None:
    op = _opaque(library, "double", lambda x: x + x, "CompositeExplicitAutograd")
    x = torch.randn(3)
    assert torch.equal(torch2mlir.compile(lambda x: op(x), x)(x), 2 * x)


@pytest.mark.usefixtures("decompositions_as_they_were")
def test_a_decomposition_stands_for_a_kernel(library: torch.library.Library) -> None:
    op = _opaque(library, "triple", lambda x: x * 3, "CPU")

    @torch2mlir.decomposition("torch2mlir_own::triple")
    def triple(x: torch.Tensor) -> torch.Tensor:
        return x + x + x

    x = torch.randn(3)
    torch.testing.assert_close(torch2mlir.compile(lambda x: op(x), x)(x), 3 * x)


@pytest.mark.usefixtures("decompositions_as_they_were")
@pytest.mark.parametrize(
    "body",
    [lambda x: x.double() * 3, lambda x: x[:2], lambda x: x[None], lambda x: 3, lambda x: None],
    ids=["dtype", "size", "rank", "number", "nothing"],
)
def test_a_decomposition_of_another_type_is_an_error(
    library: torch.library.Library, body: Any
) -> None:
    op = _opaque(library, "triple", lambda x: x * 3, "CPU")
    torch2mlir.decomposition("torch2mlir_own::triple")(body)
    with pytest.raises(torch2mlir.BackendContractError, match=r"result is .* decomposition's"):
        torch2mlir.compile(lambda x: op(x) * 2, torch.ones(3))


@pytest.mark.usefixtures("decompositions_as_they_were")
def test_a_decomposition_that_raises_is_not_called_pytorchs(library: torch.library.Library) -> None:
    op = _opaque(library, "triple", lambda x: x * 3, "CPU")

    @torch2mlir.decomposition("torch2mlir_own::triple")
    def unlucky(x: torch.Tensor) -> torch.Tensor:
        raise KeyError("three")

    with pytest.raises(
        torch2mlir.BackendContractError, match="'.*unlucky' raises KeyError: 'three'"
    ):
        torch2mlir.compile(lambda x: op(x) * 2, torch.ones(3))


def test_a_kernel_alone_is_an_error_that_says_what_to_do(library: torch.library.Library) -> None:
    op = _opaque(library, "quadruple", lambda x: x * 4, "CPU")
    with pytest.raises(torch2mlir.BackendContractError, match="torch2mlir.decomposition"):
        torch2mlir.compile(lambda x: op(x), torch.ones(3))


def test_a_decomposition_of_nothing_is_an_error() -> None:
    with pytest.raises(torch2mlir.Torch2MLIRError, match="no operator 'torch2mlir_own::missing'"):
        torch2mlir.decomposition("torch2mlir_own::missing")


def test_an_op_that_writes_to_its_arguments_is_refused_by_name() -> None:
    @torch.library.custom_op("torch2mlir_own::increment", mutates_args=("x",))
    def increment(x: torch.Tensor) -> None:
        x.add_(1)

    increment.register_fake(lambda x: None)

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        increment(y)
        return y

    with pytest.raises(torch2mlir.CaptureError, match=r"own\.increment.*writes to its arguments"):
        torch2mlir.compile(program, torch.ones(3))


@pytest.mark.usefixtures("decompositions_as_they_were")
def test_the_example() -> None:
    own_op = import_module("own_op")
    own_op.main()
