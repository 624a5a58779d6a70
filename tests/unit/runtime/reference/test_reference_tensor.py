"""tensor, scf, cf and func: shapes that change, values carried around loops, checks."""

import pytest
import torch
import torch.nn.functional as F

from tests.unit.runtime.reference.harness import run, run_one
from torch2mlir.errors import EngineError


def test_slices_with_runtime_bounds_drop_unit_dimensions():
    text = """
    func.func @main(%x: tensor<4x5x6xf32>, %at: tensor<index_as_i64>) -> tensor<2x?xf32> {
      %i = tensor.extract %at[] : tensor<i64>
      %k = arith.index_cast %i : i64 to index
      %n = arith.constant 3 : index
      %r = tensor.extract_slice %x[1, %k, 0] [2, 1, %n] [1, 1, 2] : tensor<4x5x6xf32> to tensor<2x?xf32>
      func.return %r : tensor<2x?xf32>
    }""".replace("index_as_i64", "i64")
    x = torch.randn(4, 5, 6)
    assert torch.equal(run_one(text, x, torch.tensor(3)), x[1:3, 3, ::2])
    with pytest.raises(EngineError, match="leaves its tensor in dimension 1"):
        run(text, x, torch.tensor(5))


def test_inserting_leaves_the_destination_as_it_is():
    text = """
    func.func @main(%x: tensor<3xf32>, %d: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
      %r = tensor.insert_slice %x into %d[2, 0] [1, 3] [1, 2] : tensor<3xf32> into tensor<4x5xf32>
      func.return %r, %d : tensor<4x5xf32>, tensor<4x5xf32>
    }"""
    x, d = torch.randn(3), torch.randn(4, 5)
    expected = d.clone()
    expected[2, ::2] = x
    changed, same = run(text, x, d)
    assert torch.equal(changed, expected) and torch.equal(same, d)


def test_expanding_and_collapsing_dynamic_shapes():
    text = """
    func.func @main(%x: tensor<?x6xf32>) -> tensor<?x3xf32> {
      %c0 = arith.constant 0 : index
      %d = tensor.dim %x, %c0 : tensor<?x6xf32>
      %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [%d, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>
      %r = tensor.collapse_shape %e [[0, 1], [2]] : tensor<?x2x3xf32> into tensor<?x3xf32>
      func.return %r : tensor<?x3xf32>
    }"""
    x = torch.randn(4, 6)
    assert torch.equal(run_one(text, x), x.reshape(-1, 3))


def test_padding():
    text = """
    func.func @main(%x: tensor<2x3xf32>) -> tensor<3x6xf32> {
      %v = arith.constant 7.0 : f32
      %r = tensor.pad %x low[0, 1] high[1, 2] {
      ^bb0(%i: index, %j: index):
        tensor.yield %v : f32
      } : tensor<2x3xf32> to tensor<3x6xf32>
      func.return %r : tensor<3x6xf32>
    }"""
    x = torch.randn(2, 3)
    assert torch.equal(run_one(text, x), F.pad(x, (1, 2, 0, 1), value=7.0))


def test_negative_padding_cuts():
    text = """
    "builtin.module"() ({
      "func.func"() <{function_type = (tensor<5xf32>) -> tensor<5xf32>, sym_name = "main"}> ({
      ^bb0(%x: tensor<5xf32>):
        %v = "arith.constant"() <{value = 0.0 : f32}> : () -> f32
        %r = "tensor.pad"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>,
            static_low = array<i64: -1>, static_high = array<i64: 1>}> ({
        ^bb1(%i: index):
          "tensor.yield"(%v) : (f32) -> ()
        }) : (tensor<5xf32>) -> tensor<5xf32>
        "func.return"(%r) : (tensor<5xf32>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    x = torch.randn(5)
    assert torch.equal(run_one(text, x), F.pad(x, (-1, 1)))


def test_tensors_from_values_and_indices():
    text = """
    func.func @main(%x: tensor<2xi64>) -> (tensor<4xi64>, tensor<2x3xi64>, tensor<2xi64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = tensor.extract %x[%c0] : tensor<2xi64>
      %b = tensor.extract %x[%c1] : tensor<2xi64>
      %f = tensor.from_elements %b, %a : tensor<2xi64>
      %s = tensor.splat %a : tensor<2xi64>
      %k = tensor.concat dim(0) %f, %s : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
      %g = tensor.generate {
      ^bb0(%i: index, %j: index):
        %m = arith.muli %i, %j : index
        %n = arith.index_cast %m : index to i64
        %o = arith.addi %n, %a : i64
        tensor.yield %o : i64
      } : tensor<2x3xi64>
      %p = tensor.insert %b into %s[%c1] : tensor<2xi64>
      func.return %k, %g, %p : tensor<4xi64>, tensor<2x3xi64>, tensor<2xi64>
    }"""
    joined, table, inserted = run(text, torch.tensor([5, 9]))
    assert joined.tolist() == [9, 5, 5, 5]
    assert table.tolist() == [[5, 5, 5], [5, 6, 7]]
    assert inserted.tolist() == [5, 9]


def test_a_cast_to_a_shape_the_tensor_does_not_have_is_refused():
    text = """
    func.func @main(%x: tensor<?x4xf32>) -> tensor<1x4xf32> {
      %r = tensor.cast %x : tensor<?x4xf32> to tensor<1x4xf32>
      func.return %r : tensor<1x4xf32>
    }"""
    assert run_one(text, torch.randn(1, 4)).shape == (1, 4)
    with pytest.raises(EngineError, match=r"tensor<1x4xf32> has the shape \(2, 4\)"):
        run(text, torch.randn(2, 4))


def test_what_was_never_written_shows():
    text = """
    func.func @main() -> (tensor<2xf32>, tensor<2xi64>) {
      %f = tensor.empty() : tensor<2xf32>
      %i = tensor.empty() : tensor<2xi64>
      func.return %f, %i : tensor<2xf32>, tensor<2xi64>
    }"""
    floats, integers = run(text)
    assert floats.isnan().all()
    assert (integers == torch.iinfo(torch.int64).min).all()


def test_loops_carry_values():
    text = """
    func.func @main(%n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %i = tensor.extract %n[] : tensor<i64>
      %end = arith.index_cast %i : i64 to index
      %a, %b = scf.for %k = %c0 to %end step %c1 iter_args(%x = %zero, %y = %one) -> (i64, i64) {
        %s = arith.addi %x, %y : i64
        scf.yield %y, %s : i64, i64
      }
      %w = scf.while (%v = %one) : (i64) -> i64 {
        %go = arith.cmpi slt, %v, %i : i64
        scf.condition(%go) %v : i64
      } do {
      ^bb0(%v: i64):
        %d = arith.addi %v, %v : i64
        scf.yield %d : i64
      }
      %fibonacci = tensor.from_elements %a : tensor<i64>
      %power = tensor.from_elements %w : tensor<i64>
      func.return %fibonacci, %power : tensor<i64>, tensor<i64>
    }"""
    fibonacci, power = run(text, torch.tensor(10))
    assert (fibonacci.item(), power.item()) == (55, 16)


def test_branches_calls_and_assertions():
    text = """
    func.func private @half(%x: tensor<2xf32>) -> tensor<2xf32> {
      %h = arith.constant dense<0.5> : tensor<2xf32>
      %r = arith.mulf %x, %h : tensor<2xf32>
      func.return %r : tensor<2xf32>
    }
    func.func @main(%x: tensor<2xf32>, %n: tensor<i64>) -> tensor<2xf32> {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %i = tensor.extract %n[] : tensor<i64>
      %known = arith.cmpi sge, %i, %zero : i64
      cf.assert %known, "n should not be negative"
      %odd = arith.cmpi eq, %i, %one : i64
      %y = scf.if %odd -> (tensor<2xf32>) {
        %h = func.call @half(%x) : (tensor<2xf32>) -> tensor<2xf32>
        scf.yield %h : tensor<2xf32>
      } else {
        scf.yield %x : tensor<2xf32>
      }
      cf.cond_br %odd, ^one(%y : tensor<2xf32>), ^two(%x : tensor<2xf32>)
    ^one(%p: tensor<2xf32>):
      func.return %p : tensor<2xf32>
    ^two(%q: tensor<2xf32>):
      %r = arith.negf %q : tensor<2xf32>
      func.return %r : tensor<2xf32>
    }"""
    x = torch.randn(2)
    assert torch.equal(run_one(text, x, torch.tensor(1)), x / 2)
    assert torch.equal(run_one(text, x, torch.tensor(2)), -x)
    with pytest.raises(EngineError, match="n should not be negative"):
        run(text, x, torch.tensor(-1))
