// Every complex operation.

func.func @complex(%c: complex<f32>, %f: f32, %i: i32) {
  %0 = complex.abs %c : complex<f32>
  %1 = complex.add %c, %c : complex<f32>
  %2 = complex.angle %c : complex<f32>
  %3 = complex.atan2 %c, %c : complex<f32>
  %4 = complex.bitcast %c : complex<f32> to i64
  %5 = complex.conj %c : complex<f32>
  %6 = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %7 = complex.cos %c : complex<f32>
  %8 = complex.create %f, %f : complex<f32>
  %9 = complex.div %c, %c : complex<f32>
  %10 = complex.eq %c, %c : complex<f32>
  %11 = complex.exp %c : complex<f32>
  %12 = complex.expm1 %c : complex<f32>
  %13 = complex.im %c : complex<f32>
  %14 = complex.log1p %c : complex<f32>
  %15 = complex.log %c : complex<f32>
  %16 = complex.mul %c, %c : complex<f32>
  %17 = complex.neg %c : complex<f32>
  %18 = complex.neq %c, %c : complex<f32>
  %19 = complex.pow %c, %c : complex<f32>
  %20 = complex.powi %c, %i : complex<f32>, i32
  %21 = complex.re %c : complex<f32>
  %22 = complex.rsqrt %c : complex<f32>
  %23 = complex.sign %c : complex<f32>
  %24 = complex.sin %c : complex<f32>
  %25 = complex.sqrt %c : complex<f32>
  %26 = complex.sub %c, %c : complex<f32>
  %27 = complex.tan %c : complex<f32>
  %28 = complex.tanh %c : complex<f32>
  %29 = complex.add %c, %c fastmath<fast> : complex<f32>
  %30 = complex.powi %c, %i fastmath<fast> : complex<f32>, i32
  return
}
