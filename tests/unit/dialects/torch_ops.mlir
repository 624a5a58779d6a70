// Every hand-written op of the torch dialect, in the form torch-mlir-opt prints.
func.func @f(%arg0: !torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,8],f32>, !torch.list<optional<vtensor<[2],f32>>>, !torch.tensor<*,f32>)  {
  %d = torch.constant.device "cpu"
  %s = torch.constant.str "abc"
  %n = "torch.constant.number"() {value = 3 : i64} : () -> !torch.number
  %b = torch.constant.bool true
  %x = torch.constant.float 0x7FF0000000000000
  %i = torch.constant.int -9223372036854775808
  %none = torch.constant.none
  %dd = torch.derefine %i : !torch.int to !torch.optional<int>
  %r = torch.operator "aten.foo"(%arg0, %i) : (!torch.vtensor<[?,8],f32>, !torch.int) -> !torch.vtensor<[?,8],f32>
  %c = torch.prim.If %b -> (!torch.int) { torch.prim.If.yield %i : !torch.int } else { torch.prim.If.yield %i : !torch.int }
  %l = torch.prim.Loop %i, %b, init(%i) {
    ^bb0(%a: !torch.int, %q: !torch.int):
    torch.prim.Loop.condition %b, iter(%q : !torch.int)
  } : (!torch.int, !torch.bool, !torch.int) -> !torch.int
  %t = torch.copy.to_tensor %r : !torch.tensor<[?,8],f32>
  %t2 = torch.tensor_static_info_cast %t : !torch.tensor<[?,8],f32> to !torch.tensor<*,f32>
  %ll = torch.prim.ListConstruct  : () -> !torch.list<optional<vtensor<[2],f32>>>
  torch.runtime.assert %b, "message"
  %w = torch.vtensor.literal(dense<[1.5, -2.5]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %li = torch.prim.ListConstruct %i, %i : (!torch.int, !torch.int) -> !torch.list<int>
  %u0, %u1 = torch.prim.ListUnpack %li : !torch.list<int> -> !torch.int, !torch.int
  torch.overwrite.tensor.contents %r overwrites %t : !torch.vtensor<[?,8],f32>, !torch.tensor<[?,8],f32>
  return %r, %ll, %t2 : !torch.vtensor<[?,8],f32>,  !torch.list<optional<vtensor<[2],f32>>>, !torch.tensor<*,f32>
}

func.func private @object_graph(%arg0: !torch.nn.Module<"c">) -> !torch.int {
  %1 = torch.prim.GetAttr %arg0["i"] : !torch.nn.Module<"c"> -> !torch.int
  torch.prim.SetAttr %arg0["i"] = %1 : !torch.nn.Module<"c">, !torch.int
  %2 = torch.prim.CallMethod %arg0["f"] () : !torch.nn.Module<"c">, () -> !torch.int
  %3 = torch.prim.CallMethod %arg0["f"] (%2) : !torch.nn.Module<"c">, (!torch.int) -> !torch.int
  %4 = torch.prim.Uninitialized : !torch.int
  %5 = torch.global_slot.get @slot : !torch.int
  torch.global_slot.set @slot = %5 : !torch.int
  %str = torch.constant.str "abc"
  torch.prim.Print(%str) : !torch.str
  torch.prim.RaiseException %str, %str : !torch.str, !torch.str
  %6 = torch.prim.TupleConstruct %5, %str : !torch.int, !torch.str -> !torch.tuple<int, str>
  %7:2 = torch.prim.TupleUnpack %6 : !torch.tuple<int, str> -> !torch.int, !torch.str
  %8 = torch.prim.TupleIndex %6, %5 : !torch.tuple<int, str>, !torch.int -> !torch.int
  %9 = torch.prim.unchecked_cast %5 : !torch.int -> !torch.int
  %10 = torch.prim.DictConstruct keys(%str : !torch.str) values(%5 : !torch.int) -> !torch.dict<str, int>
  %11 = torch.prim.ListConstruct  : () -> !torch.list<int>
  %12 = torch.tensor.literal(dense<1.000000e+00> : tensor<2xf32>) : !torch.tensor<[2],f32>
  %13 = torch.copy.to_vtensor %12 : !torch.vtensor<[2],f32>
  %14 = torch.shape.calculate {
    torch.shape.calculate.yield %13 : !torch.vtensor<[2],f32>
  } shapes {
    torch.shape.calculate.yield.shapes %11 : !torch.list<int>
  } : !torch.vtensor<[2],f32>
  %15 = torch.dtype.calculate {
    torch.dtype.calculate.yield %13 : !torch.vtensor<[2],f32>
  } dtypes {
    torch.dtype.calculate.yield.dtypes %5 : !torch.int
  } : !torch.vtensor<[2],f32>
  torch.prim.Store "q", %5 : !torch.int
  %16 = torch.prim.Load "q" : !torch.int
  %17 = torch.prim.CreateObject !torch.nn.Module<"c">
  %18 = torch.prim.tolist(%13) : !torch.vtensor<[2],f32> -> !torch.list<float>
  %float1.500000e00 = torch.constant.float 1.500000e+00
  %19 = torch.per_tensor_affine.create %13, %float1.500000e00, %5 : !torch.vtensor<[2],f32>, !torch.float, !torch.int -> !torch.vtensor<[2],!torch.qint8>
  %20 = torch.copy.to_tensor %13 : !torch.tensor<[2],f32>
  %21 = torch.linear_params.create %20 : !torch.tensor<[2],f32>
  %22 = torch.prim.ListConstruct %5 : (!torch.int) -> !torch.list<optional<int>>
  %23 = torch.prim.ListConstruct %5 : (!torch.int) -> !torch.list<int>
  %24 = torch.promote_dtypes %22, %23 : (!torch.list<optional<int>>, !torch.list<int>) -> !torch.int
  return %1 : !torch.int
}
torch.global_slot "private" @slot : !torch.int
torch.global_slot @slot2 : !torch.int
torch.global_slot.module_initializer {
  %int5_0 = torch.constant.int 5
  torch.initialize.global_slots [
    @slot(%int5_0 : !torch.int)
    @slot2(%int5_0 : !torch.int)
  ]
}
torch.class_type @c {
  torch.attr private "i" : !torch.int
  torch.attr "j" : !torch.int
  torch.method private "f", @object_graph
  torch.method "g", @object_graph
}
%int5 = torch.constant.int 5
%0 = torch.nn_module {
  torch.slot "i", %int5 : !torch.int
  torch.slot "j", %int5 : !torch.int
} : !torch.nn.Module<"c">
