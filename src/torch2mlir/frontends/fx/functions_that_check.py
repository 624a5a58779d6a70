"""Functions of PyTorch that look at elements only to refuse them, where PyTorch's own capture stops.

What they compute is theirs; what they refuse, a run of the program refuses. And ``backward()``, of which PyTorch's
capture keeps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from torch2mlir.errors import CaptureError
from torch2mlir.frontends.fx.functions_said_otherwise import OTHERWISE
from torch2mlir.frontends.fx.refused_dtypes import CHECKED as OF_ONE_DTYPE
from torch2mlir.frontends.fx.unneeded_conversions import set_data


def _cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Covariances of the rows, observations in columns, each so many times as its weights say."""
    x = input.reshape(1, -1) if input.dim() < 2 else input
    weights = aweights if fweights is None else fweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    for given in (fweights, aweights):
        if given is not None:
            torch._assert_async((given >= 0).all(), "cov(): weights cannot be negative")
    total: Any = x.shape[1]
    norm: Any = torch.sym_max(total - correction, 0)
    weighted = x
    if weights is not None:
        total, weighted = weights.sum(), x * weights
        torch._assert_async(total != 0, "cov(): weights sum to zero, can't be normalized")
        least = correction if aweights is None else correction * (weights * aweights).sum() / total
        norm = (total - least).clamp(min=0)
    mean = weighted.sum(1, keepdim=True) / total
    apart = x - mean
    beside = apart if weights is None else apart * weights
    return ((apart @ beside.mH) / norm).squeeze()


def _corrcoef(input: Tensor) -> Tensor:
    """Covariances divided by the deviations of both rows, between -1 and 1."""
    covariances = _cov(input)
    if covariances.dim() == 0:
        return covariances / covariances
    deviations = torch.real(covariances.diagonal()).sqrt()
    found = covariances / deviations.unsqueeze(1) / deviations
    if found.is_complex():
        return torch.complex(found.real.clamp(-1, 1), found.imag.clamp(-1, 1))
    return found.clamp(-1, 1)


def _others(one: Tensor, other: Tensor) -> list[int]:
    """The sizes of a tensor that are not those of another of its rank."""
    return [a for a, b in zip(one.shape, other.shape, strict=True) if a != b]


def _gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """``(log(var) + (input - target)**2 / var) / 2`` for variances that are not negative."""
    if not isinstance(var, Tensor):
        return functional.gaussian_nll_loss(input, target, var, full, eps, reduction)
    torch._assert_async(~(var < 0).any(), "gaussian_nll_loss: var has negative entries")
    if var.shape != input.shape and input.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    if var.dim() != input.dim() or _others(var, input) not in ([], [1]):
        raise ValueError("var is of incorrect size")
    variance = var + (var.clamp(min=eps) - var).detach()
    loss = 0.5 * (torch.log(variance) + (input - target) ** 2 / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    return loss.mean() if reduction == "mean" else loss.sum()


def _binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *args: Any, **kwargs: Any
) -> Tensor:
    """Of probabilities; PyTorch's kernel looks at both."""
    for name, given in (("input", input), ("target", target)):
        is_probability = ((given >= 0) & (given <= 1)).all()
        torch._assert_async(is_probability, f"all elements of {name} should be between 0 and 1")
    return functional.binary_cross_entropy(input, target, weight, *args, **kwargs)


def _embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, *args: Any, **kwargs: Any
) -> Tensor:
    """Of bags that begin at the first index."""
    if offsets is not None and input.dim() == 1:
        torch._assert_async((offsets[:1] == 0).all(), "offsets[0] has to be 0")
    return functional.embedding_bag(input, weight, offsets, *args, **kwargs)


def _segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    **kwargs: Any,
) -> Tensor:
    """Of segments that are the whole."""
    if lengths is not None and not unsafe:
        torch._assert_async((lengths >= 0).all(), "lengths contains negative value")
        whole = (lengths.sum(-1) == data.shape[axis]).all()
        torch._assert_async(whole, f"the lengths of segments should sum to the size of axis {axis}")
    return torch.segment_reduce(data, reduce, lengths=lengths, axis=axis, unsafe=unsafe, **kwargs)


def _outside_of_transforms(function: Any, checked: Callable[..., Any]) -> Callable[..., Any]:
    """What is checked where elements can be asked for, and the function itself within ``torch.func``'s transforms."""

    def called(*args: Any, **kwargs: Any) -> Any:
        is_transformed = torch._C._functorch.peek_interpreter_stack() is not None
        return (function if is_transformed else checked)(*args, **kwargs)

    return called


def _checked(factored: Callable[..., Any], function: Any, says: str) -> Callable[..., Any]:
    """A function of matrices that is refused by what another one, without a check, tells of them.

    Args:
        factored: gives what the function does, and at last a number for each matrix, 0 where it could be done.
        function: PyTorch's, which is taken where there is a tensor for the results, and within transforms of functions.
        says: what PyTorch does.
    """

    def checked(*args: Any, **kwargs: Any) -> Any:
        is_transformed = torch._C._functorch.peek_interpreter_stack() is not None
        if is_transformed or kwargs.get("out") is not None:
            return function(*args, **kwargs)
        *results, info = factored(*args, **kwargs)
        torch._assert_async((info == 0).all(), says)
        types: Any = torch.return_types
        return results[0] if len(results) == 1 else types.linalg_lu_factor(results)

    return checked


_SINGULAR, _NOT_POSITIVE = "the matrix is singular", "the matrix is not positive-definite"


def _backward(*_: Any, **_options: Any) -> Tensor:
    raise CaptureError(
        "the model calls backward(), which writes gradients to where a program has no values",
        hint="take them as values, torch.func.grad(loss_of)(x), or compile the model alone for training: "
        "torch.compile(model, backend='torch2mlir')",
    )


_FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    **OTHERWISE,
    **OF_ONE_DTYPE,
    Tensor.backward: _backward,
    # PyTorch's tracing does not hear of it, and takes what it gives for a constant
    Tensor.data.__get__: Tensor.detach,  # type: ignore[attr-defined]
    Tensor.data.__set__: set_data,  # type: ignore[attr-defined]
    torch.cov: _cov,
    torch.Tensor.cov: _cov,
    torch.corrcoef: _corrcoef,
    torch.Tensor.corrcoef: _corrcoef,
    functional.gaussian_nll_loss: _gaussian_nll_loss,
    **{
        function: _checked(torch.linalg.inv_ex, function, f"linalg.inv: {_SINGULAR}")
        for function in (torch.linalg.inv, torch.inverse, Tensor.inverse)
    },
    **{
        function: _outside_of_transforms(function, checked)
        for function, checked in (
            (functional.binary_cross_entropy, _binary_cross_entropy),
            (functional.embedding_bag, _embedding_bag),
            (torch.segment_reduce, _segment_reduce),
        )
    },
    torch.linalg.solve: _checked(
        torch.linalg.solve_ex, torch.linalg.solve, f"linalg.solve: {_SINGULAR}"
    ),
    torch.linalg.lu_factor: _checked(
        torch.linalg.lu_factor_ex, torch.linalg.lu_factor, f"linalg.lu_factor: {_SINGULAR}"
    ),
    **{
        function: _checked(torch.linalg.cholesky_ex, function, f"linalg.cholesky: {_NOT_POSITIVE}")
        for function in (torch.linalg.cholesky, torch.cholesky, Tensor.cholesky)
    },
}


class FunctionsThatCheck(TorchFunctionMode):
    """See the module's docstring."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        return _FUNCTIONS.get(function, function)(*args, **(kwargs or {}))
