"""Named linalg ops against PyTorch: products, convolutions in every layout, poolings, elementwise."""

import pytest
import torch
import torch.nn.functional as F

from tests.unit.runtime.reference.harness import run_one


def named(
    op: str, ins: list[tuple[str, torch.Tensor]], out: tuple[str, torch.Tensor], attrs: str = ""
):
    """The result of one named op on ``(type, tensor)`` operands."""
    names = [f"%a{number}" for number in range(len(ins))]
    arguments = ", ".join(f"{n}: {t}" for n, (t, _) in zip(names, ins, strict=True))
    text = f"""
    func.func @main({arguments}, %o: {out[0]}) -> {out[0]} {{
      %r = linalg.{op} {attrs} ins({", ".join(names)} : {", ".join(t for t, _ in ins)})
           outs(%o : {out[0]}) -> {out[0]}
      func.return %r : {out[0]}
    }}"""
    return run_one(text, *(tensor for _, tensor in ins), out[1])


def f32(*shape: int) -> tuple[str, torch.Tensor]:
    """A random float operand."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>", torch.randn(shape)


@pytest.mark.parametrize(
    ("op", "left", "right", "out", "equation"),
    [
        ("matmul", (3, 4), (4, 5), (3, 5), "mk,kn->mn"),
        ("batch_matmul", (2, 3, 4), (2, 4, 5), (2, 3, 5), "bmk,bkn->bmn"),
        ("batch_reduce_matmul", (2, 3, 4), (2, 4, 5), (3, 5), "bmk,bkn->mn"),
        ("matvec", (3, 4), (4,), (3,), "mk,k->m"),
        ("vecmat", (4,), (4, 5), (5,), "k,kn->n"),
        ("batch_matvec", (2, 3, 4), (2, 4), (2, 3), "bmk,bk->bm"),
        ("batch_vecmat", (2, 4), (2, 4, 5), (2, 5), "bk,bkn->bn"),
        ("dot", (4,), (4,), (), "k,k->"),
        ("mmt4d", (2, 3, 4, 5), (6, 3, 7, 5), (2, 6, 4, 7), "mkac,nkbc->mnab"),
    ],
)
def test_products_add_to_the_output(op, left, right, out, equation):
    a, b, o = f32(*left), f32(*right), f32(*out)
    expected = torch.einsum(equation, a[1], b[1]) + o[1]
    torch.testing.assert_close(named(op, [a, b], o), expected)


def test_a_transposed_operand_by_indexing_maps():
    maps = ", ".join(f"affine_map<(m, n, k) -> {r}>" for r in ("(k, m)", "(n, k)", "(m, n)"))
    a, b, o = f32(4, 3), f32(5, 4), f32(3, 5)
    result = named("matmul", [a, b], o, f"indexing_maps = [{maps}]")
    torch.testing.assert_close(result, a[1].T @ b[1].T + o[1])


def test_small_integers_multiply_into_wide_ones():
    a, b = torch.randint(-128, 128, (2, 3, 40), dtype=torch.int8).unbind()
    a, b, o = (
        ("tensor<3x40xi8>", a),
        ("tensor<40x3xi8>", b.T.contiguous()),
        torch.ones(3, 3, dtype=torch.int32),
    )
    expected = a[1].int() @ b[1].int() + 1
    assert torch.equal(named("matmul", [a, b], ("tensor<3x3xi32>", o)), expected)


def test_zero_points_are_subtracted():
    a, b = torch.randint(-128, 128, (2, 3, 3), dtype=torch.int8).unbind()
    text = """
    func.func @main(%a: tensor<3x3xi8>, %b: tensor<3x3xi8>, %o: tensor<3x3xi32>) -> tensor<3x3xi32> {
      %x = arith.constant 5 : i32
      %y = arith.constant -3 : i32
      %r = linalg.quantized_matmul ins(%a, %b, %x, %y : tensor<3x3xi8>, tensor<3x3xi8>, i32, i32)
           outs(%o : tensor<3x3xi32>) -> tensor<3x3xi32>
      func.return %r : tensor<3x3xi32>
    }"""
    result = run_one(text, a, b, torch.zeros(3, 3, dtype=torch.int32))
    assert torch.equal(result, (a.int() - 5) @ (b.int() + 3))


def test_half_precision_products_are_rounded_once():
    # eighths: their products add up exactly in f32, in any order, and not in f16
    a, b = (torch.randint(-63, 64, sizes).half() / 8 for sizes in ((3, 64), (64, 5)))
    zero = ("tensor<3x5xf16>", torch.zeros(3, 5).half())
    result = named("matmul", [("tensor<3x64xf16>", a), ("tensor<64x5xf16>", b)], zero)
    assert torch.equal(result, (a.float() @ b.float()).half())


STRIDED = "{strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}"


@pytest.mark.parametrize(
    ("source", "window", "result"),
    [("nchw", "fchw", "nfhw"), ("nhwc", "hwcf", "nhwf"), ("nhwc", "fhwc", "nhwf")],
)
def test_convolutions_in_their_layouts(source, window, result):
    x, w, o = torch.randn(2, 4, 9, 9), torch.randn(6, 4, 3, 3), torch.randn(2, 6, 4, 4)
    expected = F.conv2d(x, w, stride=2) + o

    def lay(tensor: torch.Tensor, torchs: str, letters: str) -> tuple[str, torch.Tensor]:
        laid = tensor.permute([torchs.index(letter) for letter in letters]).contiguous()
        return f"tensor<{'x'.join(map(str, laid.shape))}xf32>", laid

    out = lay(o, "nfhw", result)
    got = named(
        f"conv_2d_{source}_{window}", [lay(x, "nchw", source), lay(w, "fchw", window)], out, STRIDED
    )
    torch.testing.assert_close(got, lay(expected, "nfhw", result)[1])


def test_grouped_convolutions():
    x, w, o = torch.randn(2, 4, 9, 9), torch.randn(6, 2, 3, 3), torch.zeros(2, 2, 3, 4, 4)
    expected = F.conv2d(x, w, stride=2, groups=2).reshape(2, 2, 3, 4, 4)
    source = "tensor<2x2x2x9x9xf32>", x.reshape(2, 2, 2, 9, 9)
    out = "tensor<2x2x3x4x4xf32>", o
    gfchw = "tensor<2x3x2x3x3xf32>", w.reshape(2, 3, 2, 3, 3)
    torch.testing.assert_close(
        named("conv_2d_ngchw_gfchw", [source, gfchw], out, STRIDED), expected
    )
    fgchw = "tensor<3x2x2x3x3xf32>", w.reshape(2, 3, 2, 3, 3).transpose(0, 1).contiguous()
    torch.testing.assert_close(
        named("conv_2d_ngchw_fgchw", [source, fgchw], out, STRIDED), expected
    )


def test_depthwise_convolutions():
    x, w = torch.randn(2, 4, 9, 9), torch.randn(4, 1, 3, 3)
    expected = F.conv2d(x, w, stride=2, groups=4)
    out = "tensor<2x4x4x4xf32>", torch.zeros(2, 4, 4, 4)
    source, window = ("tensor<2x4x9x9xf32>", x), ("tensor<4x3x3xf32>", w[:, 0])
    got = named("depthwise_conv_2d_nchw_chw", [source, window], out, STRIDED)
    torch.testing.assert_close(got, expected)
    many = torch.randn(8, 1, 3, 3)
    nhwcm = F.conv2d(x, many, stride=2, groups=4).reshape(2, 4, 2, 4, 4).permute(0, 3, 4, 1, 2)
    source = "tensor<2x9x9x4xf32>", x.permute(0, 2, 3, 1).contiguous()
    window = "tensor<3x3x4x2xf32>", many.reshape(4, 2, 3, 3).permute(2, 3, 0, 1).contiguous()
    out = "tensor<2x4x4x4x2xf32>", torch.zeros(2, 4, 4, 4, 2)
    torch.testing.assert_close(
        named("depthwise_conv_2d_nhwc_hwcm", [source, window], out, STRIDED), nhwcm
    )


def test_convolutions_of_one_and_three_dimensions():
    x, w, o = f32(2, 4, 9), f32(6, 4, 3), f32(2, 6, 5)
    attrs = "{strides = dense<1> : tensor<1xi64>, dilations = dense<2> : tensor<1xi64>}"
    expected = F.conv1d(x[1], w[1], dilation=2) + o[1]
    torch.testing.assert_close(named("conv_1d_ncw_fcw", [x, w], o, attrs), expected)
    x, w, o = f32(2, 4, 5, 6, 7), f32(3, 4, 2, 2, 2), f32(2, 3, 4, 5, 6)
    attrs = "{strides = dense<1> : tensor<3xi64>, dilations = dense<1> : tensor<3xi64>}"
    expected = F.conv3d(x[1], w[1]) + o[1]
    torch.testing.assert_close(named("conv_3d_ncdhw_fcdhw", [x, w], o, attrs), expected)


def test_poolings():
    x, window = f32(2, 4, 9, 9), ("tensor<3x3xf32>", torch.zeros(3, 3))
    start = "tensor<2x4x4x4xf32>", torch.full((2, 4, 4, 4), -float("inf"))
    zero = "tensor<2x4x4x4xf32>", torch.zeros(2, 4, 4, 4)
    expected = F.max_pool2d(x[1], 3, 2)
    assert torch.equal(named("pooling_nchw_max", [x, window], start, STRIDED), expected)
    got = named("pooling_nchw_sum", [x, window], zero, STRIDED)
    torch.testing.assert_close(got, F.avg_pool2d(x[1], 3, 2) * 9)
    nhwc = "tensor<2x9x9x4xf32>", x[1].permute(0, 2, 3, 1).contiguous()
    start = "tensor<2x4x4x4xf32>", torch.full((2, 4, 4, 4), float("inf"))
    got = named("pooling_nhwc_min", [nhwc, window], start, STRIDED)
    assert torch.equal(got, -F.max_pool2d(-x[1], 3, 2).permute(0, 2, 3, 1))


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("add", torch.add),
        ("sub", torch.sub),
        ("mul", torch.mul),
        ("div", torch.div),
        ("max", torch.maximum),
        ("min", torch.minimum),
    ],
)
def test_named_elementwise_ops(op, reference):
    a, b, o = f32(3, 4), f32(3, 4), f32(3, 4)
    torch.testing.assert_close(named(op, [a, b], o), reference(a[1], b[1]))


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("exp", torch.exp),
        ("negf", torch.neg),
        ("reciprocal", torch.reciprocal),
        ("square", torch.square),
    ],
)
def test_named_elementwise_ops_of_one_operand(op, reference):
    a, o = f32(3, 4), f32(3, 4)
    torch.testing.assert_close(named(op, [a], o), reference(a[1]))
