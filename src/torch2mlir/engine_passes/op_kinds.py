"""Kinds of ops of the target dialects, by where the elements of a result come from.

Every op of StableHLO, CHLO and TOSA that computes tensors is of one of these kinds, or else elementwise. Passes that
follow elements through a program take their cases from here; ``linalg.generic`` they look into.
"""

from __future__ import annotations

LITERALS = frozenset({"arith.constant", "chlo.constant", "stablehlo.constant", "tosa.const"})
"""Elements that the program says."""

NUMBERS = frozenset({"chlo.constant_like", "linalg.fill", "tensor.empty", "tensor.splat"})
"""One number everywhere."""

PLACES = frozenset({"stablehlo.iota", "stablehlo.dynamic_iota"})
"""Each element says where it is."""

RESHAPES = frozenset(
    {
        *("tensor.bitcast", "tensor.cast", "tensor.collapse_shape"),
        *("tensor.expand_shape", "tensor.reshape"),
        *("tosa.reshape", "stablehlo.reshape", "stablehlo.dynamic_reshape"),
    }
)
"""All elements of the first operand in their order, where they lie."""

SLICES = frozenset(
    {
        *("tensor.extract_slice", "tosa.slice", "stablehlo.slice"),
        *("stablehlo.dynamic_slice", "stablehlo.real_dynamic_slice"),
    }
)
"""A part of the first operand where it lies, perhaps with steps."""

TRANSPOSES = frozenset({"linalg.transpose", "tosa.transpose", "stablehlo.transpose"})
"""All elements of the first operand, with the dimensions in another order."""

BROADCASTS = frozenset(
    {
        *("linalg.broadcast", "tosa.tile", "stablehlo.broadcast"),
        *("stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim"),
    }
)
"""All elements of the first operand, several times."""

REVERSALS = frozenset({"tosa.reverse", "stablehlo.reverse"})
"""All elements of the first operand, from the end."""

LOOKUPS = frozenset(
    {
        *("tensor.extract", "tosa.gather", "tosa.row_gather", "tosa.resize"),
        *("stablehlo.gather", "stablehlo.dynamic_gather", "stablehlo.torch_index_select"),
    }
)
"""Elements of the first operand at places that are computed."""

JOINS = frozenset(
    {
        *("tensor.concat", "tensor.from_elements", "tensor.pad", "tosa.concat", "tosa.pad"),
        *("stablehlo.concatenate", "stablehlo.pad", "stablehlo.dynamic_pad"),
    }
)
"""The operands' elements beside each other."""

UPDATES = frozenset(
    {
        *("tensor.insert", "tensor.insert_slice", "tensor.scatter", "tosa.scatter"),
        *("stablehlo.dynamic_update_slice", "stablehlo.scatter", "iree_linalg_ext.scatter"),
    }
)
"""An operand with other elements at some places."""

COMBINATIONS = frozenset(
    {
        *("tosa.reduce_all", "tosa.reduce_any", "tosa.reduce_max", "tosa.reduce_min"),
        *("tosa.reduce_product", "tosa.reduce_sum", "tosa.argmax", "tosa.argmin"),
        *("tosa.avg_pool2d", "tosa.max_pool2d", "tosa.avg_pool2d_adaptive"),
        *("tosa.max_pool2d_adaptive", "tosa.conv2d", "tosa.conv3d", "tosa.depthwise_conv2d"),
        *("tosa.transpose_conv2d", "tosa.matmul", "tosa.matmul_t", "tosa.conv2d_block_scaled"),
        *("tosa.matmul_t_block_scaled", "tosa.fft2d", "tosa.rfft2d"),
        *("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.select_and_scatter"),
        *("stablehlo.sort", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.convolution"),
        *("stablehlo.dynamic_conv", "stablehlo.einsum", "stablehlo.unary_einsum"),
        *("stablehlo.cholesky", "stablehlo.triangular_solve", "stablehlo.fft"),
        *("stablehlo.batch_norm_training", "stablehlo.batch_norm_grad"),
        *("chlo.top_k", "chlo.ragged_dot", "chlo.scan"),
    }
)
"""Each element from many."""

LOOPS = frozenset({"scf.for", "scf.forall", "scf.while", "stablehlo.while", "tosa.while_loop"})
"""They begin with their operands."""
BRANCHES = frozenset(
    {
        *("stablehlo.case", "stablehlo.if", "tosa.cond_if"),
        *("scf.execute_region", "scf.if", "scf.index_switch"),
    }
)
CONTROL_FLOW = BRANCHES | LOOPS
"""What their regions hand on."""

OPAQUE = frozenset(
    {
        *("stablehlo.after_all", "stablehlo.batch_norm_inference", "stablehlo.composite"),
        "stablehlo.create_token",
        *("stablehlo.custom_call", "stablehlo.get_tuple_element", "stablehlo.map"),
        *("stablehlo.optimization_barrier", "stablehlo.partition_id", "stablehlo.replica_id"),
        *("stablehlo.return", "stablehlo.rng", "stablehlo.rng_bit_generator", "stablehlo.tuple"),
        *(
            "stablehlo.get_dimension_size",
            "stablehlo.set_dimension_size",
            "tosa.assert_equal_shape",
        ),
        *("tosa.cast_from_block_scaled", "tosa.cast_to_block_scaled", "tosa.custom", "tosa.dim"),
        *("tosa.reshape_block_scaled", "tosa.row_gather_block_scaled", "tosa.variable"),
        *("tosa.variable_read", "tosa.variable_write", "tosa.yield"),
    }
)
"""Nothing is known of them, or they are no tensors."""

_KNOWN = frozenset().union(
    *(
        LITERALS,
        NUMBERS,
        PLACES,
        RESHAPES,
        SLICES,
        TRANSPOSES,
        BROADCASTS,
        REVERSALS,
        LOOKUPS,
        JOINS,
        UPDATES,
    ),
    *(COMBINATIONS, CONTROL_FLOW, OPAQUE),
)
_DIALECTS = frozenset({"arith", "chlo", "math", "stablehlo", "tosa"})


def is_elementwise(name: str) -> bool:
    """Whether an op computes each element from the corresponding ones of its operands.

    Args:
        name: of the op, with that of its dialect.
    """
    dialect = name.partition(".")[0]
    return dialect in _DIALECTS and name not in _KNOWN and not name.endswith("_shape")
