// Every math operation; torch-mlir-opt finds math only after a linalg operation.

func.func @math(%f: f32, %i: i32, %t: tensor<2xf32>) {
  %first = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%t : tensor<2xf32>) {
  ^bb0(%old: f32):
    linalg.yield %old : f32
  } -> tensor<2xf32>
  %0 = math.absf %f : f32
  %1 = math.absi %i : i32
  %2 = math.acos %f : f32
  %3 = math.acosh %f : f32
  %4 = math.asin %f : f32
  %5 = math.asinh %f : f32
  %6 = math.atan2 %f, %f : f32
  %7 = math.atan %f : f32
  %8 = math.atanh %f : f32
  %9 = math.cbrt %f : f32
  %10 = math.ceil %f : f32
  %11 = math.clampf %f to [%f, %f] : f32
  %12 = math.copysign %f, %f : f32
  %13 = math.cos %f : f32
  %14 = math.cosh %f : f32
  %15 = math.ctlz %i : i32
  %16 = math.cttz %i : i32
  %17 = math.ctpop %i : i32
  %18 = math.erf %f : f32
  %19 = math.erfc %f : f32
  %20 = math.exp2 %f : f32
  %21 = math.expm1 %f : f32
  %22 = math.exp %f : f32
  %23 = math.fpowi %f, %i : f32, i32
  %24 = math.floor %f : f32
  %25 = math.fma %f, %f, %f : f32
  %26 = math.ipowi %i, %i : i32
  %27 = math.isfinite %f : f32
  %28 = math.isinf %f : f32
  %29 = math.isnan %f : f32
  %30 = math.isnormal %f : f32
  %31 = math.log1p %f : f32
  %32 = math.log2 %f : f32
  %33 = math.log10 %f : f32
  %34 = math.log %f : f32
  %35 = math.powf %f, %f : f32
  %36 = math.roundeven %f : f32
  %37 = math.round %f : f32
  %38 = math.rsqrt %f : f32
  %39 = math.sin %f : f32
  %40, %41 = math.sincos %f : f32
  %42 = math.sinh %f : f32
  %43 = math.sqrt %f : f32
  %44 = math.tan %f : f32
  %45 = math.tanh %f : f32
  %46 = math.trunc %f : f32
  %47 = math.isnan %t : tensor<2xf32>
  %48 = math.erf %f fastmath<fast> : f32
  %50 = math.clampf %f to [%f, %f] fastmath<fast> : f32
  return
}
