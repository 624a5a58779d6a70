"""Functions that TorchScript compiles, with the Python around tensors that has to be gone at the backend contract.

All take one float tensor of shape [2, 3].
"""

# TorchScript reads annotations as they are written
import torch
from torch import Tensor


def list_of_rows(x: Tensor) -> Tensor:
    out: list[Tensor] = []
    for i in range(x.size(0)):
        out.append(x[i] * (i + 1))
    return torch.stack(out)


def nested_lists(x: Tensor) -> Tensor:
    out = []
    for i in range(2):
        row = []
        for j in range(3):
            row.append(x[i, j])
        out.append(torch.stack(row))
    return torch.stack(out)


def comprehension(x: Tensor) -> Tensor:
    ys = [x[i].sum() for i in range(x.size(0))]
    return torch.stack(ys[::-1])


def list_methods(x: Tensor) -> Tensor:
    members = [x, x * 2, x * 3]
    last = members.pop()
    members.insert(0, last)
    members[1] = members[1] + 1
    return torch.cat(members)


def list_arithmetic(x: Tensor) -> Tensor:
    s = [1] * x.dim() + [2]
    s[0] = 3
    return x.new_zeros(s) + max(s) + sum([1, 2]) + len(s)


def list_that_grows(x: Tensor) -> Tensor:
    p: list[int] = []
    for d in range(x.dim()):
        p += [1, d]
    return torch.nn.functional.pad(x, p)


def rows_in_turn(x: Tensor) -> Tensor:
    total = torch.zeros_like(x[0])
    for row in x.unbind(0):
        total = total + row
    return total


def chunks(x: Tensor) -> Tensor:
    parts = x.chunk(3, dim=1)
    return parts[2] - parts[0]


def enumerated(x: Tensor) -> Tensor:
    for i, w in enumerate([1.0, 2.0, 3.0]):
        x = x + i * w
    for a, b in zip([1, 2], [3, 4]):
        x = x * a + b
    return x


def dicts(x: Tensor) -> Tensor:
    d: dict[str, Tensor] = {"a": x}
    d["b"] = x * 2
    return d["a"] + d["b"] if "b" in d else x


def tuples(x: Tensor) -> Tensor:
    a, b = torch.split(x, [1, x.size(0) - 1], 0)
    t = (a.sum(), b.sum())
    return t[0] * t[1]


def several_results(x: Tensor) -> tuple[Tensor, Tensor]:
    h = torch.zeros(3)
    outs: list[Tensor] = []
    for t in range(x.size(0)):
        h = torch.tanh(x[t] + h * 0.5)
        outs.append(h)
    return torch.stack(outs, 0), h


def branch_on_rank(x: Tensor) -> Tensor:
    if x.dim() == 3:
        return x.permute(2, 0, 1)
    elif x.dim() == 2:
        return x.t()
    else:
        return x


def branch_on_dtype(x: Tensor) -> Tensor:
    if x.dtype == torch.float32 and x.is_floating_point():
        return x.to(torch.float64)
    return x.to(torch.float32).double()


def branch_on_elements(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return x * 2
    else:
        return x - 1


def numbers_from_branches(x: Tensor) -> Tensor:
    if bool(x.sum() > 3):
        k = 2.5
        n = 1
    else:
        k = -1.0
        n = 7
    return x * k + n


def logic_of_elements(x: Tensor) -> Tensor:
    big = bool(x.max() > 4)
    small = bool(x.min() < 1)
    if big and not small:
        return x
    if big or small:
        return x * 2
    return x * 3


def element_as_number(x: Tensor) -> Tensor:
    n = int(x.sum().item())
    b = x.max().item() * 2 + 1
    return x * float(n) / b


def optional_in_a_loop(x: Tensor) -> Tensor:
    y: torch.Tensor | None = None
    for i in range(4):
        if y is None:
            y = x
        else:
            y = y + x * i
    assert y is not None
    return y


def assertion_on_sizes(x: Tensor) -> Tensor:
    assert x.size(1) == 3, f"need 3 columns, got {x.size(1)}"
    n, m = x.shape
    return x.view(n * m // 3, 3).sum(dim=[1])


def exception_on_elements(x: Tensor) -> Tensor:
    if bool(x.sum() < -100):
        raise ValueError(f"too small {x.size(0)}")
    return x + 1


def early_return(x: Tensor) -> Tensor:
    if x.size(0) > 100:
        return x
    for i in range(3):
        if i == 2:
            break
        x = x + i
    return x


def break_on_elements(x: Tensor) -> Tensor:
    for i in range(5):
        if bool(x.sum() > 40):
            break
        x = x + i
    return x


def tensor_that_grows(x: Tensor) -> Tensor:
    y = x
    for _ in range(3):
        y = torch.cat([y, x], 0)
    return y


def while_on_numbers(x: Tensor) -> Tensor:
    k = 1
    while k < 20:
        x = x.repeat(1, 2)
        k = k * 2
    return x


def while_on_elements(x: Tensor) -> Tensor:
    i = 0
    while i < 5 and bool(x.sum() < 1000):
        x = x * 2
        i += 1
    return x + i


def many_iterations(x: Tensor) -> Tensor:
    for i in range(50):
        x = x * 0.9 + i
    return x


def swapped_in_a_loop(x: Tensor) -> Tensor:
    h, c = x, x * 2
    for _ in range(3):
        h, c = c, h + c
    return h + c


def row_by_iteration(x: Tensor) -> Tensor:
    for i in range(x.size(0)):
        x = x + x[i]
    return x


def sizes_counted_in_a_loop(x: Tensor) -> Tensor:
    k = 0
    for i in range(3):
        if i % 2 == 0:
            k += i
    return x[:, k:]


def weighted_loss(x: Tensor) -> Tensor:
    """Its code asks which sizes the tensors have together."""
    weight = torch.tensor([0.5, 1.0, 2.0])
    return torch.nn.functional.binary_cross_entropy(x.sigmoid(), x / 8, weight)


def one_mask_of_two_tensors(x: Tensor) -> Tensor:
    """Both have as many elements as the mask takes."""
    y, z, mask = x * 2 - 3, x.clone(), x > 2
    z[mask] = torch.where(x[mask] > y[mask], x[mask], y[mask] + x[mask])
    return z


PROGRAMS = [
    value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__
]
