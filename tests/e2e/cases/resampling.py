"""Images at other sizes and places: interpolation, grids, shuffled and unfolded pixels."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

from torch.nn import functional as f

from tests.e2e.registry import bf16, case, f16, f32, f64, gradient_of, u8

case(
    "interpolate_to_the_size_of_another",
    lambda x, y: f.interpolate(x, size=y.shape[-2:]),
    f32(2, 2, 4, 5),
    f32(2, 2, "H", "W"),
)
IMAGE = f32("B", 2, 5, 6)
BYTES = u8("B", 3, 5, 6, high=256)
INTERPOLATIONS = {
    "nearest1d": ({"size": 9}, f32("B", 2, 5)),
    "nearest2d": ({"scale_factor": (2, 1.5)}, IMAGE),
    "nearest2d_dynamic": ({"scale_factor": 2}, f32(2, 2, "H", "W")),
    "nearest3d": ({"size": (3, 5, 4)}, f32("B", 2, 4, 3, 5)),
    "nearest-exact2d": ({"mode": "nearest-exact", "size": (7, 4)}, IMAGE),
    "linear": ({"mode": "linear", "scale_factor": 2}, f32("B", 2, 5)),
    "bilinear": ({"mode": "bilinear", "size": (7, 9)}, IMAGE),
    "bilinear_aligned": ({"mode": "bilinear", "size": (4, 9), "align_corners": True}, IMAGE),
    "bilinear_dynamic": ({"mode": "bilinear", "scale_factor": 2}, f32(2, 2, "H", "W")),
    "bilinear_halved_dynamic": ({"mode": "bilinear", "scale_factor": 0.5}, f32(2, 2, "H", "W")),
    "nearest_exact_by_fraction_dynamic": (
        {"mode": "nearest-exact", "scale_factor": (1.5, 0.6)},
        f32(2, 2, "H", "W"),
    ),
    "bicubic_recomputed_dynamic": (
        {"mode": "bicubic", "scale_factor": 1.25, "recompute_scale_factor": True},
        f32(2, 2, "H", "W"),
    ),
    "trilinear": ({"mode": "trilinear", "size": (3, 5, 4)}, f32("B", 2, 4, 3, 5)),
    "bicubic": ({"mode": "bicubic", "size": (7, 9)}, IMAGE),
    "bicubic_aligned": ({"mode": "bicubic", "size": (4, 9), "align_corners": True}, IMAGE),
    "bilinear_bytes": ({"mode": "bilinear", "size": (7, 4)}, BYTES),
    "bilinear_bytes_by_factors": ({"mode": "bilinear", "scale_factor": (1.7, 0.6)}, BYTES),
    "bilinear_bytes_aligned": ({"mode": "bilinear", "size": (7, 6), "align_corners": True}, BYTES),
    "bicubic_bytes": ({"mode": "bicubic", "size": (9, 4)}, BYTES),
    "antialiased_bilinear_bytes": ({"mode": "bilinear", "size": (3, 8), "antialias": True}, BYTES),
    "antialiased_bicubic_bytes": (
        {"mode": "bicubic", "scale_factor": (0.4, 1.2), "antialias": True},
        u8("B", 6, 9, 11, high=256),
    ),
    "area": ({"mode": "area", "size": (3, 4)}, IMAGE),
    "antialiased_bilinear": ({"mode": "bilinear", "size": (3, 4), "antialias": True}, IMAGE),
    "antialiased_bicubic": ({"mode": "bicubic", "size": (3, 9), "antialias": True}, IMAGE),
    "antialiased_bilinear_to_one": (
        {"mode": "bilinear", "size": (1, 3), "antialias": True, "align_corners": True},
        IMAGE,
    ),
    "antialiased_bicubic_to_one": (
        {"mode": "bicubic", "size": (1, 3), "antialias": True, "align_corners": True},
        IMAGE,
    ),
}
for name, (options, image) in INTERPOLATIONS.items():
    case(f"interpolate_{name}", lambda x, o=options: f.interpolate(x, **o), image, loose=5)
for name in (
    "nearest2d",
    "linear",
    "bilinear",
    "trilinear",
    "bicubic_aligned",
    "antialiased_bicubic",
    "antialiased_bilinear_to_one",
):
    options, image = INTERPOLATIONS[name]
    program = gradient_of(lambda x, o=options: f.interpolate(x, **o))
    fixed = f32(2, *image.shape[1:])
    case(f"interpolate_{name}_backward", program, image if name == "bilinear" else fixed, loose=20)
case("interpolate_f64", lambda x: f.interpolate(x, (7, 4), mode="bicubic"), f64(2, 2, 5, 6))
case("interpolate_bf16", lambda x: f.interpolate(x, (7, 4), mode="bilinear"), bf16(2, 2, 5, 6))

GRIDS = {
    "bilinear": {},
    "bilinear_border": {"padding_mode": "border", "align_corners": True},
    "bilinear_reflected": {"padding_mode": "reflection"},
    "nearest": {"mode": "nearest"},
    "bicubic": {"mode": "bicubic", "align_corners": True},
    "bicubic_reflected": {"mode": "bicubic", "padding_mode": "reflection", "align_corners": True},
}
IN_GRID = {"low": -1.4, "high": 1.4}


def _sample(options: dict[str, Any]) -> Callable[..., Any]:
    return lambda x, grid: f.grid_sample(x, grid, **{"align_corners": False, **options})


for name, options in GRIDS.items():
    batch: Any = "B" if name == "bilinear_reflected" else 2
    inputs = f32(batch, 2, 4, 3), f32(batch, 3, 2, 2, **IN_GRID)
    case(f"grid_sample_{name}", _sample(options), *inputs, loose=20)
for name in ("bilinear", "bilinear_reflected", "bicubic"):
    inputs = f32(2, 2, 4, 3), f32(2, 3, 2, 2, **IN_GRID)
    case(f"grid_sample_{name}_backward", gradient_of(_sample(GRIDS[name])), *inputs, loose=20)
# which of two elements is the nearest, half way between them, depends on the order of rounding
HALF_WAY = tuple(round(place / 10 - 1.2, 1) for place in range(25))
for _mode in ("nearest", "bilinear"):
    for _name, _input in {"f32": f32, "f16": f16}.items():
        case(
            f"grid_sample_{_mode}_half_way_{_name}",
            lambda x, grid, mode=_mode: (
                *(_sample({"mode": mode})(x, grid), _sample({"mode": mode})(x.mT, grid)),
                _sample({"mode": mode, "align_corners": True})(x, grid),
            ),
            _input(2, 2, 5, 4),
            _input(2, 5, 5, 2, values=HALF_WAY),
        )
case(
    "grid_sample_3d",
    lambda x, grid: f.grid_sample(x, grid, padding_mode="border", align_corners=False),
    f32(2, 2, 3, 4, 3),
    f32(2, 2, 3, 2, 3, **IN_GRID),
    loose=20,
)
# outside of an image is zero, also beside elements that are infinite; a place that is no number is NaN but in a volume
for name in ("nearest", "bilinear", "bicubic"):
    case(
        f"grid_sample_{name}_beside_infinities",
        _sample({"mode": name}),
        f32(2, 2, 4, 3, values=(inf, 1.0, nan, -2.0, 3.0, -inf, 0.5)),
        f32(2, 3, 2, 2, low=-3.0, high=3.0),
        loose=20,
    )
    case(
        f"grid_sample_{name}_at_no_number",
        _sample({"mode": name}),
        f32(2, 2, 4, 3),
        f32(2, 3, 2, 2, values=(nan, 0.3, -0.2, 0.5, inf, 0.1, -inf)),
        loose=20,
    )
for name in ("border", "reflection"):
    for mode in ("nearest", "bilinear"):
        case(
            f"grid_sample_{mode}_{name}_at_no_number",
            _sample({"mode": mode, "padding_mode": name}),
            f32(2, 2, 4, 3),
            f32(2, 3, 2, 2, values=(nan, 0.3, -0.2, 0.5, nan, nan, 1.5)),
            loose=20,
        )
case(
    "grid_sample_volume_at_no_number",
    lambda x, grid: (
        _sample({})(x, grid),
        _sample({"padding_mode": "border"})(x.nan_to_num(1.0, 2.0, 3.0), grid.clamp(-2.0, 2.0)),
    ),
    f32(2, 2, 4, 3, 3, values=(inf, 1.0, -2.0, 3.0, nan, 0.5)),
    f32(2, 3, 2, 2, 3, values=(nan, 0.3, 2.0, 0.5, inf, 0.1, -2.0, -inf)),
    loose=20,
)
case(
    "grid_sample_dynamic_image",
    lambda x, grid: f.grid_sample(x, grid, align_corners=True),
    f32(2, 2, "H", "W"),
    f32(2, "S", 4, 2, low=-1.2, high=1.2),
    loose=20,
)
case(
    "affine_grid",
    lambda theta: f.affine_grid(theta, [3, 2, 4, 5], align_corners=False),
    f32(3, 2, 3),
)
case(
    "affine_grid_3d", lambda t: f.affine_grid(t, [2, 1, 2, 3, 2], align_corners=True), f32(2, 3, 4)
)

case("unfold_image", lambda x: f.unfold(x, (2, 3), 1, 1, (2, 1)), f32("B", 2, 5, 6))
case("unfold_image_dynamic", lambda x: f.unfold(x, 2, stride=2), f32(2, 2, "H", "W"))
case("fold_image", lambda x: f.fold(x, (5, 6), 3, padding=1, stride=(2, 1)), f32("B", 18, 18))
