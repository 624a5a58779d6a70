"""By which way each overload of PyTorch's registry reaches the backend contract, or why it does not; needs PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch._C import DispatchKey
from torch._ops import OpOverload

from torch2mlir.contract.core_ops import CORE_OPS, FAMILIES, IDENTITIES, SCALAR_OPS
from torch2mlir.contract.op_name import OpName
from torch2mlir.contract.target import get_target, lowered_targets
from torch2mlir.conversion.registry import lowering_functions
from torch2mlir.dialects.torch.schema import Schema, find_schema, op_names
from torch2mlir.transforms.check_backend_contract import DATA_DEPENDENT
from torch2mlir.transforms.decompositions import (
    find_decomposition,
    find_overload,
    is_dispatched,
)

CORE = "core"
SCALAR = "Python numbers"
IDENTITY = "removed"
LOWERED = "lowered"
OURS = "decomposed"
PYTORCHS = "decomposed, PyTorch"
COMPOSITE = "composite"
IN_PLACE = "in place"
OUT = "out variant"
UNSUPPORTED = "unsupported"

_COMPOSITE = DispatchKey.CompositeImplicitAutograd

_REASONS: tuple[tuple[str, str], ...] = (
    (
        "*sparse* *coalesce* *csr* ccol_indices* crow_indices* col_indices* row_indices* _nnz"
        " _values* _indices* indices* values* hspmm* *spsolve* _spdiags dense_dim _dim[IV]"
        " _validate_compressed* _to_dense _cslt* to_mkldnn*",
        "no dialect has tensors of this layout",
    ),
    (
        "_nested* *jagged* to_padded_tensor*",
        "nested tensors have no type in the dialects",
    ),
    (
        "cudnn* _cudnn* miopen* *_mps* mps_* *mkldnn* _nnpack* *fbgemm* _use_cudnn*"
        " _use_miopen* slow_conv* *triton* nnpack* *_overrideable* _flash_attention*"
        " _efficient_attention* _scaled_dot_product_efficient*"
        " _scaled_dot_product_flash_attention _scaled_dot_product_flash_attention.quantized"
        " _scaled_dot_product_flash_attention_backward _scaled_dot_product_cudnn*"
        " conv_depthwise3d _conv_depthwise2d *_for_mps *_cpu_fallback* batch_norm_*stats*"
        " batch_norm_elemt* batch_norm_backward_elemt batch_norm_backward_reduce"
        " batch_norm_update_stats* _fused_dropout _philox_*",
        "one backend's kernel: torch.export writes the op it implements",
    ),
    (
        "quantize_per* dequantize.* q_* qscheme int_repr* *quantized* _make_per_*"
        " _empty_*_quantized* empty_quantized* _fused_moving_avg* fused_moving_avg*"
        " quantized_batch_norm*",
        "PyTorch's quantized tensor types have no type in the dialects: export with quantized_decomposed ops",
    ),
    (
        "*int4pack* *int8pack* _dyn_quant* _weight_int* _mixed_dtypes_linear",
        "weights packed for one kernel of PyTorch",
    ),
    (
        "_test* _foobar",
        "exists for PyTorch's own tests",
    ),
    (
        "_make_dual* _fw_primal* _unpack_dual* _new_zeros_with_same_feature_meta _lazy_clone"
        " _make_dep_token *_jvp",
        "bookkeeping of forward-mode differentiation",
    ),
    (
        "set set.* resize* *_resize* _has_same_storage* is_set_to *pin_memory* is_pinned"
        " from_file* _copy_from* _efficientzerotensor* _pin_memory record_stream data_ptr"
        " _reshape_copy rename* *_storage*",
        "about the memory of a tensor, which values do not have",
    ),
    (
        "_assert* _functional_assert* *sym_constrain* _functional_sym* _print _linalg_check_errors",
        "a check of the capture, not of the program",
    ),
    (
        "_fused_* _amp_*",
        "a fused optimizer: torch.optim writes the same with foreach=True or False",
    ),
    (
        "is_nonzero equal allclose",
        "its result is a Python value that depends on the elements of a tensor",
    ),
    (
        "poisson binomial _standard_gamma* _sample_dirichlet _dirichlet_grad",
        "drawn by rejection: how many random numbers an element takes depends on them",
    ),
    (
        "linalg_eig linalg_eigvals _linalg_eigvals",
        "no closed algorithm of fixed length: eigenvalues of a general matrix",
    ),
)
"""Patterns of names without ``aten.``, and why what matches them cannot be covered."""


@dataclass(frozen=True)
class Way:
    """How one overload is covered.

    Attributes:
        op: name in the dialect.
        kind: one of this module's constants.
        detail: the family, or the reason why it is not covered.
        missing: targets that cannot express it whatever its operands are.
    """

    op: str
    kind: str
    detail: str = ""
    missing: frozenset[str] = frozenset()


def ways() -> list[Way]:
    """Every overload of ``aten``, ``prims`` and ``quantized_decomposed`` that has a kernel, in order of name."""
    lowered = set().union(*(lowering_functions(target) for target in lowered_targets()))
    without_sizes = frozenset(t for t in lowered_targets() if not get_target(t).sizes_from_data)
    families = {op: family for family, ops in FAMILIES.items() for op in ops}
    found = list[Way]()
    for op in op_names():
        if not op.startswith(("torch.aten.", "torch.prims.", "torch.quantized_decomposed.")):
            continue  # the rest is TorchScript's own
        schema, overload = find_schema(op), find_overload(op)
        if schema is not None and overload is not None and is_dispatched(overload):
            way = _way(op, schema, overload, families, lowered)
            found.append(replace(way, missing=without_sizes) if _is_sized(overload) else way)
    return _settled(found)


def _is_sized(overload: OpOverload) -> bool:
    """Whether the size of a result always depends on elements; a variant with ``out=`` does not say so itself."""
    packet, name = overload.overloadpacket, overload._overloadname
    functional = name.removesuffix("out").removesuffix("_") or "default"
    variant = getattr(packet, functional) if functional in packet.overloads() else overload
    always = packet.__name__ not in (
        "index",
        "one_hot",
    )  # only of masks, only without a number of classes
    return always and torch.Tag.dynamic_output_shape in variant.tags


def _settled(found: list[Way]) -> list[Way]:
    """What writes into a tensor is covered if what computes the value is."""
    reasons: dict[str, str] = {}
    covered: set[str] = set()
    for way in found:
        if way.kind == UNSUPPORTED:
            reasons.setdefault(_base(way.op), way.detail)
        elif way.kind not in (IN_PLACE, OUT):
            covered.add(_base(way.op))
    return [
        Way(way.op, UNSUPPORTED, reasons[_base(way.op)])
        if way.kind in (IN_PLACE, OUT) and _base(way.op) in reasons and _base(way.op) not in covered
        else way
        for way in found
    ]


def _base(op: str) -> str:
    """``relu`` for ``torch.aten.relu_`` and ``torch.aten.relu.out``."""
    return OpName(op).base.removesuffix("_")


def _way(
    op: str, schema: Schema, overload: OpOverload, families: dict[str, str], lowered: set[str]
) -> Way:
    if op in CORE_OPS:
        return Way(op, CORE, families[op])
    if op in SCALAR_OPS:
        return Way(op, SCALAR)
    if op in IDENTITIES:
        return Way(op, IDENTITY)
    if op in lowered:
        return Way(op, LOWERED)
    reason = _reason(op)
    if reason or any("Dimname" in argument.type for argument in schema.arguments):
        return Way(op, UNSUPPORTED, reason or "dimensions with names: torch.export gives positions")
    if op in DATA_DEPENDENT:
        return Way(op, UNSUPPORTED, "its result depends on the elements of a tensor")
    if any(argument.is_written and argument.kwarg_only for argument in schema.arguments):
        return Way(op, OUT)
    if schema.is_mutating:
        return Way(op, IN_PLACE)
    if overload.has_kernel_for_dispatch_key(_COMPOSITE):
        return Way(op, COMPOSITE)
    function = find_decomposition(overload)
    if function is not None:
        ours = function.__module__.startswith(__name__.partition(".")[0])
        return Way(op, OURS if ours else PYTORCHS)
    return Way(op, UNSUPPORTED, "no decomposition yet")


def _reason(op: str) -> str:
    if not op.startswith("torch.aten."):
        return ""
    name = op.removeprefix("torch.aten.")
    base = name.partition(".")[0].removesuffix("_")
    for patterns, reason in _REASONS:
        if any(fnmatchcase(name, p) or fnmatchcase(base, p) for p in patterns.split()):
            return reason
    return ""
