"""How non-core ops become core ones: PyTorch's own decompositions, and ours where it has none that fits.

One file per family, as in the conversions; :mod:`registry` holds the table.
"""

from torch2mlir.transforms.decompositions import (  # noqa: F401 - each registers its family
    activations,
    attention,
    bessel,
    bessel_modified,
    complex,
    constructors,
    convolution,
    copies,
    data_dependent,
    data_movement,
    dropout,
    elementwise,
    embedding,
    error_functions,
    fft,
    float_bits,
    foreach,
    fused,
    gamma,
    grid_sampling,
    hashing,
    incomplete_gamma,
    linear,
    linear_algebra,
    losses,
    normalization,
    orthogonal,
    polynomials,
    pooling,
    prims,
    quantized,
    random,
    recurrent,
    reduction,
    resampling,
    scans,
    scatter,
    sorting,
    spectral,
    torchscript,
    windows,
)
from torch2mlir.transforms.decompositions.registry import (
    decomposes,
    find_decomposition,
    find_overload,
    op_name,
    table,
)

__all__ = ["decomposes", "find_decomposition", "find_overload", "op_name", "table"]
