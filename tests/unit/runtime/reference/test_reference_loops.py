"""linalg.generic and its kin: how operands are addressed, which reductions are vectorised, in what order."""

import pytest
import torch

from tests.unit.runtime.reference.harness import run, run_one
from torch2mlir.errors import EngineError
from torch2mlir.runtime.reference import contraction, loops


@pytest.fixture(params=[None, 7], ids=["one box", "many boxes"], autouse=True)
def box_size(request, monkeypatch):
    """Every program also runs cut into many boxes."""
    if request.param:
        monkeypatch.setattr(loops, "BOX_ELEMENTS", request.param)
        monkeypatch.setattr(contraction, "PIECE_ELEMENTS", request.param)


def test_transposed_and_broadcast_operands():
    text = """
    func.func @main(%a: tensor<3x4xf32>, %b: tensor<1x3xf32>, %c: tensor<f32>) -> tensor<4x3xf32> {
      %e = tensor.empty() : tensor<4x3xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (0, j)>,
          affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%a, %b, %c : tensor<3x4xf32>, tensor<1x3xf32>, tensor<f32>) outs(%e : tensor<4x3xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
        %s = arith.addf %x, %y : f32
        %t = arith.mulf %s, %z : f32
        linalg.yield %t : f32
      } -> tensor<4x3xf32>
      func.return %r : tensor<4x3xf32>
    }"""
    a, b, c = torch.randn(3, 4), torch.randn(1, 3), torch.tensor(2.0)
    assert torch.equal(run_one(text, a, b, c), (a.T + b) * c)


def test_a_permuted_output():
    text = """
    func.func @main(%a: tensor<3x4xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
          iterator_types = ["parallel", "parallel"]} ins(%a : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) {
      ^bb0(%x: f32, %o: f32):
        %s = arith.addf %x, %o : f32
        linalg.yield %s : f32
      } -> tensor<4x3xf32>
      func.return %r : tensor<4x3xf32>
    }"""
    a, e = torch.randn(3, 4), torch.randn(4, 3)
    assert torch.equal(run_one(text, a, e), a.T + e)


@pytest.mark.parametrize("body", ["contraction", "general"])
def test_a_strided_window_written_as_affine_sums(body):
    extra = "" if body == "contraction" else "%n = arith.negf %m : f32\n%p = arith.negf %n : f32"
    new = "%m" if body == "contraction" else "%p"
    text = f"""
    func.func @main(%x: tensor<2x9xf32>, %k: tensor<3xf32>, %e: tensor<2x3xf32>) -> tensor<2x3xf32> {{
      %r = linalg.generic {{indexing_maps = [affine_map<(n, o, k) -> (n, o * 2 + k * 2)>,
          affine_map<(n, o, k) -> (k)>, affine_map<(n, o, k) -> (n, o)>],
          iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%x, %k : tensor<2x9xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {{
      ^bb0(%a: f32, %b: f32, %o: f32):
        %m = arith.mulf %a, %b : f32
        {extra}
        %s = arith.addf %o, {new} : f32
        linalg.yield %s : f32
      }} -> tensor<2x3xf32>
      func.return %r : tensor<2x3xf32>
    }}"""
    x, k, e = torch.randn(2, 9), torch.randn(3), torch.randn(2, 3)
    expected = torch.conv1d(x[:, None], k[None, None], stride=2, dilation=2)[:, 0] + e
    torch.testing.assert_close(run_one(text, x, k, e), expected)


def test_a_quotient_in_an_indexing_map():
    text = """
    func.func @main(%x: tensor<3xf32>, %e: tensor<6xf32>) -> tensor<6xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<6xf32>) {
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      } -> tensor<6xf32>
      func.return %r : tensor<6xf32>
    }"""
    x = torch.randn(3)
    assert torch.equal(run_one(text, x, torch.zeros(6)), x.repeat_interleave(2))


def test_a_map_that_leaves_its_operand_is_refused():
    text = """
    func.func @main(%x: tensor<?xf32>, %k: tensor<3xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
      %r = linalg.generic {indexing_maps = [affine_map<(o, k) -> (o + k)>, affine_map<(o, k) -> (k)>,
          affine_map<(o, k) -> (o)>], iterator_types = ["parallel", "reduction"]}
          ins(%x, %k : tensor<?xf32>, tensor<3xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %s = arith.addf %o, %a : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }"""
    with pytest.raises(EngineError, match="addresses 0 to"):
        run(text, torch.randn(3), torch.randn(3), torch.randn(4))


REDUCTION = """
func.func @main(%x: tensor<3x5x{kind}>, %e: tensor<3x{kind}>) -> tensor<3x{kind}> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<3x5x{kind}>) outs(%e : tensor<3x{kind}>) {{
  ^bb0(%a: {kind}, %o: {kind}):
    %s = {op} {operands} : {kind}
    linalg.yield %s : {kind}
  }} -> tensor<3x{kind}>
  func.return %r : tensor<3x{kind}>
}}"""


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("addf", lambda x, e: x.sum(1) + e),
        ("mulf", lambda x, e: x.prod(1) * e),
        ("maximumf", lambda x, e: torch.maximum(x.amax(1), e)),
        ("minimumf", lambda x, e: torch.minimum(x.amin(1), e)),
        ("subf", lambda x, e: e - x.sum(1)),
    ],
)
def test_reductions_combine_with_the_initial_value(op, reference):
    x, e = torch.randn(3, 5), torch.randn(3)
    text = REDUCTION.format(kind="f32", op=f"arith.{op}", operands="%o, %a")
    torch.testing.assert_close(run_one(text, x, e), reference(x, e))


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("addi", lambda x: x.sum(1).to(torch.int8)),
        ("maxsi", lambda x: x.amax(1)),
        ("maxui", lambda x: x.view(torch.uint8).amax(1).view(torch.int8)),
        ("ori", lambda x: x[:, 0] | x[:, 1] | x[:, 2] | x[:, 3] | x[:, 4]),
    ],
)
def test_integer_reductions_wrap_and_know_their_sign(op, reference):
    x = torch.randint(-128, 128, (3, 5), dtype=torch.int8)
    text = REDUCTION.format(kind="i8", op=f"arith.{op}", operands="%a, %o")
    start = torch.full((3,), -128 if op == "maxsi" else 0, dtype=torch.int8)
    assert torch.equal(run_one(text, x, start), reference(x))


def test_a_maximum_over_nan_is_nan_only_when_it_propagates():
    x = torch.tensor([[1.0, float("nan"), 2.0, 0.0, -1.0]] * 3)
    e = torch.full((3,), -float("inf"))
    for op, expected in (("maximumf", float("nan")), ("maxnumf", 2.0)):
        text = REDUCTION.format(kind="f32", op=f"arith.{op}", operands="%a, %o")
        torch.testing.assert_close(run_one(text, x, e), torch.full((3,), expected), equal_nan=True)


def test_an_empty_reduction_keeps_the_initial_value():
    text = REDUCTION.format(kind="f32", op="arith.addf", operands="%a, %o").replace("3x5x", "3x?x")
    e = torch.randn(3)
    assert torch.equal(run_one(text, torch.randn(3, 0), e), e)


ARGMAX = """
func.func @main(%x: tensor<3x5xf32>, %m: tensor<3xf32>, %p: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xi64>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x5xf32>) outs(%m, %p : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %better = arith.cmpf ogt, %a, %best : f32
    %b = arith.select %better, %a, %best : f32
    %w = arith.select %better, %here, %at : i64
    linalg.yield %b, %w : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  func.return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
}"""


def test_a_reduction_over_several_outputs_runs_in_order():
    x = torch.tensor([[1.0, 3.0, 3.0, 2.0, 0.0]]).repeat(3, 1)
    start = torch.full((3,), -float("inf")), torch.zeros(3, dtype=torch.int64)
    best, at = run(ARGMAX, x, *start)
    assert best.tolist() == [3.0] * 3
    assert at.tolist() == [1] * 3


def test_outputs_that_trade_places_are_read_before_they_are_written():
    text = """
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} outs(%a, %b : tensor<4xf32>, tensor<4xf32>) {
      ^bb0(%x: f32, %y: f32):
        linalg.yield %y, %x : f32, f32
      } -> (tensor<4xf32>, tensor<4xf32>)
      func.return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
    }"""
    a, b = torch.randn(4), torch.randn(4)
    first, second = run(text, a, b)
    assert torch.equal(first, b) and torch.equal(second, a)


GATHER = """
func.func @main(%x: tensor<5x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n)>, affine_map<(n, c) -> (n, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%i : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%k: i64, %o: f32):
    %row = arith.index_cast %k : i64 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<5x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}"""


def test_elements_taken_by_computed_indices():
    x, i = torch.randn(5, 4), torch.tensor([4, 0, 4])
    assert torch.equal(run_one(GATHER, x, i), x[i])


@pytest.mark.parametrize("index", [5, -1])
def test_an_index_outside_the_tensor_is_refused(index):
    with pytest.raises(EngineError, match=f"index {index} is outside dimension 0 of size 5"):
        run(GATHER, torch.randn(5, 4), torch.tensor([0, index, 0]))


def test_control_flow_in_a_body_decides_element_by_element():
    text = """
    func.func @main(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
      %e = tensor.empty() : tensor<2x3xi64>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i64
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xi64>) outs(%e : tensor<2x3xi64>) {
      ^bb0(%a: i64, %o: i64):
        %n = arith.index_cast %a : i64 to index
        %f = scf.for %k = %c0 to %n step %c1 iter_args(%p = %one) -> (i64) {
          %i = arith.index_cast %k : index to i64
          %s = arith.addi %i, %one : i64
          %q = arith.muli %p, %s : i64
          scf.yield %q : i64
        }
        linalg.yield %f : i64
      } -> tensor<2x3xi64>
      func.return %r : tensor<2x3xi64>
    }"""
    result = run_one(text, torch.tensor([[0, 1, 2], [3, 4, 5]]))
    assert result.tolist() == [[1, 1, 2], [6, 24, 120]]


def test_map_reduce_transpose_and_broadcast():
    text = """
    func.func @main(%x: tensor<2x3xf32>, %e: tensor<3xf32>) -> tensor<4x3x2xf32> {
      %t = tensor.empty() : tensor<2x3xf32>
      %m = linalg.map ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%t : tensor<2x3xf32>)
        (%a: f32, %b: f32, %old: f32) {
          %p = arith.mulf %a, %b : f32
          linalg.yield %p : f32
        }
      %r = linalg.reduce ins(%m : tensor<2x3xf32>) outs(%e : tensor<3xf32>) dimensions = [0]
        (%a: f32, %o: f32) {
          %s = arith.addf %a, %o : f32
          linalg.yield %s : f32
        }
      %u = tensor.empty() : tensor<2x4x3xf32>
      %w = linalg.broadcast ins(%r : tensor<3xf32>) outs(%u : tensor<2x4x3xf32>) dimensions = [0, 1]
      %v = tensor.empty() : tensor<4x3x2xf32>
      %y = linalg.transpose ins(%w : tensor<2x4x3xf32>) outs(%v : tensor<4x3x2xf32>) permutation = [1, 2, 0]
      func.return %y : tensor<4x3x2xf32>
    }"""
    x, e = torch.randn(2, 3), torch.randn(3)
    expected = ((x * x).sum(0) + e).expand(2, 4, 3).permute(1, 2, 0)
    torch.testing.assert_close(run_one(text, x, e), expected)
