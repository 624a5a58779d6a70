"""What single elements become: arith, math and complex, where MLIR's meaning is easy to get wrong."""

import numpy as np
import pytest
import torch

from tests.unit.runtime.reference.harness import per_element, run_one

INF, NAN = float("inf"), float("nan")


def binary(op: str, kind: str, a: list, b: list, dtype: torch.dtype) -> list:
    text = per_element(f"%r = {op} %a, %b : {kind}", [kind, kind], kind, len(a))
    return run_one(text, torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype)).tolist()


def unary(op: str, kind: str, values: list, dtype: torch.dtype) -> list:
    text = per_element(f"%r = {op} %a : {kind}", [kind], kind, len(values))
    return run_one(text, torch.tensor(values, dtype=dtype)).tolist()


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("addi", [127, -128], [1, -1], [-128, 127]),
        ("subi", [-128, 0], [1, 1], [127, -1]),
        ("muli", [64, -128], [2, -1], [-128, -128]),
        ("divsi", [7, -7, 7, -7], [2, 2, -2, -2], [3, -3, -3, 3]),
        ("remsi", [7, -7, 7, -7], [2, 2, -2, -2], [1, -1, 1, -1]),
        ("floordivsi", [7, -7, 7, -7], [2, 2, -2, -2], [3, -4, -4, 3]),
        ("ceildivsi", [7, -7, 7, -7], [2, 2, -2, -2], [4, -3, -3, 4]),
        ("divui", [-1, 7], [2, 2], [127, 3]),
        ("remui", [-1, 7], [16, 4], [15, 3]),
        ("ceildivui", [-1, 7], [2, 2], [-128, 4]),
        ("minsi", [-1, 3], [1, 5], [-1, 3]),
        ("minui", [-1, 3], [1, 5], [1, 3]),
        ("maxsi", [-1, 3], [1, 5], [1, 5]),
        ("maxui", [-1, 3], [1, 5], [-1, 5]),
        ("andi", [-1, 6], [5, 3], [5, 2]),
        ("ori", [0, 6], [5, 3], [5, 7]),
        ("xori", [-1, 6], [-1, 3], [0, 5]),
        ("shli", [1, -1], [7, 1], [-128, -2]),
        ("shrsi", [-128, -2], [7, 1], [-1, -1]),
        ("shrui", [-128, -2], [7, 1], [1, 127]),
    ],
)
def test_eight_bit_integers_wrap_and_take_their_sign_from_the_op(op, a, b, expected):
    assert binary(f"arith.{op}", "i8", a, b, torch.int8) == expected


def test_booleans_add_as_one_bit_and_true_is_the_lowest_signed_value():
    a, b = [True, True, False], [True, False, False]
    assert binary("arith.addi", "i1", a, b, torch.bool) == [False, True, False]
    assert binary("arith.maxsi", "i1", a, b, torch.bool) == [True, False, False]
    assert binary("arith.maxui", "i1", a, b, torch.bool) == [True, True, False]


def test_integer_comparisons_read_bits_as_signed_or_unsigned():
    for predicate, expected in (("slt", [True, False]), ("ult", [False, False])):
        text = per_element(f"%r = arith.cmpi {predicate}, %a, %b : i8", ["i8", "i8"], "i1", 2)
        a, b = torch.tensor([-1, 2], dtype=torch.int8), torch.tensor([1, 2], dtype=torch.int8)
        assert run_one(text, a, b).tolist() == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("oeq", [False, True, False]),
        ("ueq", [True, True, False]),
        ("one", [False, False, True]),
        ("une", [True, False, True]),
        ("olt", [False, False, True]),
        ("ult", [True, False, True]),
        ("ord", [False, True, True]),
        ("uno", [True, False, False]),
        ("false", [False, False, False]),
        ("true", [True, True, True]),
    ],
)
def test_ordered_comparisons_are_false_and_unordered_ones_true_on_nan(predicate, expected):
    text = per_element(f"%r = arith.cmpf {predicate}, %a, %b : f32", ["f32", "f32"], "i1", 3)
    assert (
        run_one(text, torch.tensor([NAN, 1.0, 1.0]), torch.tensor([1.0, 1.0, 2.0])).tolist()
        == expected
    )


def test_maximumf_propagates_nan_and_maxnumf_does_not():
    a, b = [NAN, 1.0, -0.0, 0.0], [1.0, NAN, 0.0, -0.0]
    maximum = binary("arith.maximumf", "f32", a, b, torch.float32)
    assert np.isnan(maximum[:2]).all()
    assert np.copysign(1, maximum[2:]).tolist() == [1, 1]
    assert np.copysign(1, binary("arith.minimumf", "f32", a, b, torch.float32)[2:]).tolist() == [
        -1,
        -1,
    ]
    assert binary("arith.maxnumf", "f32", a, b, torch.float32)[:2] == [1, 1]


@pytest.mark.parametrize(
    ("cast", "source", "target", "values", "expected"),
    [
        ("sitofp", (torch.int8, "i8"), "f32", [-1, 2], [-1.0, 2.0]),
        ("uitofp", (torch.int8, "i8"), "f32", [-1, 2], [255.0, 2.0]),
        ("sitofp", (torch.bool, "i1"), "f32", [True, False], [-1.0, 0.0]),
        ("uitofp", (torch.bool, "i1"), "f32", [True, False], [1.0, 0.0]),
        ("extsi", (torch.int8, "i8"), "i32", [-1, 2], [-1, 2]),
        ("extui", (torch.int8, "i8"), "i32", [-1, 2], [255, 2]),
        ("extui", (torch.bool, "i1"), "i64", [True, False], [1, 0]),
        ("trunci", (torch.int32, "i32"), "i8", [257, -1], [1, -1]),
        ("trunci", (torch.int32, "i32"), "i1", [2, 3], [False, True]),
        ("fptosi", (torch.float32, "f32"), "i32", [-1.9, 1.9], [-1, 1]),
        ("fptoui", (torch.float32, "f32"), "i8", [200.7, 1.9], [-56, 1]),
        ("truncf", (torch.float64, "f64"), "f32", [0.1, 1e300], [float(np.float32(0.1)), INF]),
        ("truncf", (torch.float32, "f32"), "bf16", [1.00390625, 1.01171875], [1.0, 1.015625]),
        ("bitcast", (torch.float32, "f32"), "i32", [1.0, -0.0], [0x3F800000, -(2**31)]),
        ("bitcast", (torch.bfloat16, "bf16"), "i16", [1.0, -2.0], [0x3F80, -0x4000]),
    ],
)
def test_casts(cast, source, target, values, expected):
    dtype, kind = source
    text = per_element(f"%r = arith.{cast} %a : {kind} to {target}", [kind], target, len(values))
    assert run_one(text, torch.tensor(values, dtype=dtype)).tolist() == expected


def test_bfloat16_nans_keep_their_sign():
    bits = torch.tensor([0x7FC0, 0x7F81, -0x40, -1], dtype=torch.int16)
    text = per_element("%r = arith.bitcast %a : bf16 to i16", ["bf16"], "i16", 4)
    found = run_one(text, bits.view(torch.bfloat16))
    assert (found < 0).tolist() == [False, False, True, True]
    assert found.view(torch.bfloat16).isnan().all()


def test_narrow_floats_are_rounded_after_every_op():
    body = "%s = arith.addf %a, %b : {0}\n%r = arith.subf %s, %a : {0}"
    for kind, dtype in (("bf16", torch.bfloat16), ("f16", torch.float16)):
        a, b = torch.tensor([256.0, 4096.0], dtype=dtype), torch.tensor([1.0, 1.0], dtype=dtype)
        text = per_element(body.format(kind), [kind, kind], kind, 2)
        assert torch.equal(run_one(text, a, b), (a + b) - a)


def test_rounding_modes_differ_on_halves():
    values = [0.5, 1.5, -0.5, -2.5, 0.49999997]
    assert unary("math.round", "f32", values, torch.float32) == [1.0, 2.0, -1.0, -3.0, 0.0]
    assert unary("math.roundeven", "f32", values, torch.float32) == [0.0, 2.0, 0.0, -2.0, 0.0]


def test_bit_counts_know_the_width():
    values = [0, 1, -1, 64]
    assert unary("math.ctlz", "i8", values, torch.int8) == [8, 7, 0, 1]
    assert unary("math.cttz", "i8", values, torch.int8) == [8, 0, 0, 6]
    assert unary("math.ctpop", "i8", values, torch.int8) == [0, 1, 8, 1]


def test_integer_powers_with_negative_exponents():
    a, b = [2, 1, -1, -1, 3], [-1, -5, -3, -2, 4]
    assert binary("math.ipowi", "i32", a, b, torch.int32) == [0, 1, -1, 1, 81]


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("erf", torch.erf),
        ("exp", torch.exp),
        ("expm1", torch.expm1),
        ("tanh", torch.tanh),
        ("atan", torch.atan),
        ("rsqrt", lambda x: torch.rsqrt(x)),
        ("absf", torch.abs),
        ("floor", torch.floor),
        ("log1p", torch.log1p),
        ("cbrt", lambda x: x.sign() * x.abs() ** (1 / 3)),
    ],
)
@pytest.mark.parametrize(("kind", "dtype"), [("f32", torch.float32), ("f64", torch.float64)])
def test_math_agrees_with_pytorch(op, reference, kind, dtype):
    x = torch.linspace(-0.9, 3, 7, dtype=dtype)
    text = per_element(f"%r = math.{op} %a : {kind}", [kind], kind, 7)
    torch.testing.assert_close(run_one(text, x), reference(x), equal_nan=True)


def test_complex_numbers():
    body = """
      %p = complex.mul %a, %b : complex<f32>
      %re = complex.re %p : complex<f32>
      %im = complex.im %p : complex<f32>
      %n = arith.negf %im : f32
      %r = complex.create %re, %n : complex<f32>"""
    kind = "complex<f32>"
    a, b = torch.randn(2, 4, dtype=torch.complex64).unbind()
    torch.testing.assert_close(
        run_one(per_element(body, [kind, kind], kind, 4), a, b), (a * b).conj()
    )
