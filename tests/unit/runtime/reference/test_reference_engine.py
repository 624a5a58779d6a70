"""The reference engine as an engine: tensors in and out, literals, tracing, errors."""

import threading

import pytest
import torch
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tests.unit.runtime.reference.harness import compiled, run, run_one
from torch2mlir.dialects.arith_ext import ConstantOp
from torch2mlir.dialects.weights import BufferSource, SourceAttr, WeightAttr
from torch2mlir.errors import EngineError, InputError, ParseError
from torch2mlir.runtime.engine import get_engine
from torch2mlir.runtime.lowered import LoweredFunction
from torch2mlir.runtime.reference import ReferenceEngine


def identity(kind: str) -> str:
    return f"func.func @main(%x: tensor<?x{kind}>) -> tensor<?x{kind}> {{\n func.return %x : tensor<?x{kind}>\n}}"


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("i1", torch.bool),
        ("i8", torch.int8),
        ("i64", torch.int64),
        ("ui8", torch.uint8),
        ("f16", torch.float16),
        ("bf16", torch.bfloat16),
        ("f8E4M3FN", torch.float8_e4m3fn),
        ("f64", torch.float64),
        ("complex<f32>", torch.complex64),
    ],
)
def test_every_dtype_goes_in_and_comes_out(kind, dtype):
    x = torch.randn(7).to(dtype)
    y = run_one(identity(kind), x)
    assert y.dtype == dtype
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8))
    assert y.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_a_copied_nan_keeps_its_bits(kind):
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[kind]
    values = torch.tensor([float("nan"), 1.0, -0.0, float("inf")], dtype=dtype)
    for x in (values, -values, values.flip(0)):
        assert torch.equal(run_one(identity(kind), x).view(torch.uint8), x.view(torch.uint8))


def test_an_unsigned_tensor_may_stand_behind_a_signless_type():
    x = torch.tensor([200, 3], dtype=torch.uint8)
    assert torch.equal(run_one(identity("i8"), x).view(torch.uint8), x)


def test_results_share_no_memory():
    text = """
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %c = arith.constant dense<1.0> : tensor<4xf32>
      %y = arith.addf %x, %c : tensor<4xf32>
      func.return %y, %y, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }"""
    executable = compiled(text)
    first = executable([torch.zeros(4)])
    first[0].fill_(9), first[2].fill_(9)
    assert first[1].tolist() == [1.0] * 4
    assert executable([torch.zeros(4)])[2].tolist() == [1.0] * 4


def test_a_prepared_tensor_is_shared():
    executable = compiled(identity("f32"))
    x = torch.zeros(3)
    prepared = executable.prepare(x)
    assert prepared.shares_memory
    x.fill_(5)
    assert executable([prepared])[0].tolist() == [5.0] * 3


def test_literals_of_every_kind():
    text = """
    func.func @main() -> (tensor<2x2xf32>, tensor<3xi1>, tensor<2xbf16>, tensor<2xi64>, tensor<2xf32>, tensor<f32>) {
      %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %b = arith.constant dense<[true, false, true]> : tensor<3xi1>
      %c = arith.constant dense<1.5> : tensor<2xbf16>
      %d = arith.constant dense<[-1, 9223372036854775807]> : tensor<2xi64>
      %e = arith.constant dense_resource<weight> : tensor<2xf32>
      %f = arith.constant dense<0xFF800000> : tensor<f32>
      func.return %a, %b, %c, %d, %e, %f
        : tensor<2x2xf32>, tensor<3xi1>, tensor<2xbf16>, tensor<2xi64>, tensor<2xf32>, tensor<f32>
    }
    {-#
      dialect_resources: { builtin: { weight: "0x040000000000803F00000040" } }
    #-}"""
    a, b, c, d, e, f = run(text)
    assert a.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert b.tolist() == [True, False, True]
    assert c.dtype == torch.bfloat16 and c.tolist() == [1.5, 1.5]
    assert d.tolist() == [-1, 2**63 - 1]
    assert e.tolist() == [1.0, 2.0]
    assert f.item() == -float("inf")


def test_resources_that_are_elsewhere_are_asked_for_by_name():
    text = """
    func.func @main() -> tensor<2xf32> {
      %e = arith.constant dense_resource<weight> : tensor<2xf32>
      func.return %e : tensor<2xf32>
    }"""
    values = torch.tensor([3.0, 4.0])
    stored = {"weight": values.numpy().tobytes()}
    executable = ReferenceEngine().compile(
        LoweredFunction.parse(text, "linalg-on-tensors"), resources=stored.get
    )
    assert torch.equal(executable([])[0], values)
    with pytest.raises(EngineError, match="dense_resource<weight> are not in the module"):
        run(text)


def test_a_module_in_memory_keeps_its_weights_where_they_are():
    weight = torch.randn(3)
    type_ = TensorType(f32, [3])
    source = BufferSource("w", memoryview(weight.numpy()))
    block = Block(arg_types=[type_])
    constant = ConstantOp.of(WeightAttr(SourceAttr(source), type_))
    total = arith.AddfOp(block.args[0], constant.results[0])
    block.add_ops([constant, total, ReturnOp(total.results[0])])
    module = ModuleOp([FuncOp("main", ((type_,), (type_,)), Region(block))])
    executable = ReferenceEngine().compile(LoweredFunction.of(module, "linalg-on-tensors"))
    x = torch.randn(3)
    assert torch.equal(executable([x])[0], x + weight)
    weight.zero_()
    assert torch.equal(executable([x])[0], x)


TWO_STEPS = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %doubled = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %y = arith.negf %doubled : tensor<2xf32> loc("model.py":12:0)
  func.return %y : tensor<2xf32>
}"""


def test_every_intermediate_value_can_be_looked_at():
    executable = compiled(TWO_STEPS)
    trace = executable.trace([torch.tensor([1.0, 2.0])])
    assert [(step.name, step.op) for step in trace[1:]] == [
        ("doubled", "linalg.generic"),
        ("y", "arith.negf"),
    ]
    assert trace[1].value.tolist() == [2.0, 4.0]
    assert trace[2].location == "model.py:12"
    seen: list[str] = []
    with executable.observed(lambda op, results: seen.append(op.name)):
        executable([torch.zeros(2)])
    executable([torch.zeros(2)])
    assert seen == ["tensor.empty", "linalg.generic", "arith.negf"]


def test_an_op_without_implementation_is_named_before_anything_runs():
    text = """
    "builtin.module"() ({
      "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
      ^bb0(%x: tensor<2xf32>):
        %y = "mylib.magic"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc("model.py":7:0)
        "func.return"(%y) : (tensor<2xf32>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    with pytest.raises(EngineError) as caught:
        compiled(text)
    assert caught.value.op == "mylib.magic"
    assert caught.value.location == "model.py:7"


def test_bad_programs_and_arguments():
    engine = get_engine("reference")
    with pytest.raises(ParseError):
        engine.compile(LoweredFunction.parse("func.func @main(", "linalg-on-tensors"))
    with pytest.raises(EngineError, match="no function @other"):
        engine.compile(LoweredFunction.parse(identity("f32"), "linalg-on-tensors", "other"))
    with pytest.raises(EngineError, match="does not take"):
        engine.compile(LoweredFunction.parse(identity("f32"), "stablehlo"))
    executable = engine.compile(LoweredFunction.parse(identity("f32"), "linalg-on-tensors"))
    for bad in ([], [torch.zeros(3, dtype=torch.int32)], [torch.zeros(2, 2)], [1.0]):
        with pytest.raises(InputError):
            executable(bad)


def test_a_failed_run_leaves_nothing_behind_and_threads_take_turns():
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<2xf32> {
      %y = tensor.cast %x : tensor<?xf32> to tensor<2xf32>
      %z = arith.addf %y, %y : tensor<2xf32>
      func.return %z : tensor<2xf32>
    }"""
    executable = compiled(text)
    with pytest.raises(EngineError):
        executable([torch.zeros(3)])
    results: dict[int, torch.Tensor] = {}

    def call(number: int) -> None:
        results[number] = executable([torch.full((2,), float(number))])[0]

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: r.tolist() for n, r in results.items()} == {n: [2.0 * n] * 2 for n in range(4)}


def test_globals_last_from_one_call_to_the_next():
    text = """
    "builtin.module"() ({
      "ml_program.global"() <{is_mutable, sym_name = "seed", sym_visibility = "private",
          type = tensor<i64>, value = dense<3> : tensor<i64>}> : () -> ()
      "func.func"() <{function_type = () -> tensor<i64>, sym_name = "main"}> ({
        %old = "ml_program.global_load"() <{global = @seed}> : () -> tensor<i64>
        %new = "arith.addi"(%old, %old) : (tensor<i64>, tensor<i64>) -> tensor<i64>
        "ml_program.global_store"(%new) <{global = @seed}> : (tensor<i64>) -> ()
        "func.return"(%new) : (tensor<i64>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    executable = compiled(text)
    executable([])[0].zero_()
    assert executable([])[0].item() == 12


def test_affine_values():
    text = """
    "builtin.module"() ({
      "func.func"() <{function_type = (tensor<?xf32>) -> tensor<index>, sym_name = "shape"}> ({
      ^bb0(%x: tensor<?xf32>):
        %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
        %n = "tensor.dim"(%x, %c0) : (tensor<?xf32>, index) -> index
        %m = "affine.apply"(%n, %n) <{map = affine_map<(d0)[s0] -> (d0 floordiv 2 + s0)>}> : (index, index) -> index
        %k = "affine.min"(%m) <{map = affine_map<(d0) -> (d0, 20)>}> : (index) -> index
        %r = "tensor.from_elements"(%k) : (index) -> tensor<index>
        "func.return"(%r) : (tensor<index>) -> ()
      }) : () -> ()
      "func.func"() <{function_type = (tensor<?xf32>) -> tensor<i64>, sym_name = "main"}> ({
      ^bb0(%x: tensor<?xf32>):
        %s = "func.call"(%x) <{callee = @shape}> : (tensor<?xf32>) -> tensor<index>
        %r = "arith.index_cast"(%s) : (tensor<index>) -> tensor<i64>
        "func.return"(%r) : (tensor<i64>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    assert run_one(text, torch.zeros(7)).item() == 10
    assert run_one(text, torch.zeros(70)).item() == 20
