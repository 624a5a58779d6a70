"""Nothing but a target's dialects after its conversion, and every pass that people's pipelines name."""

import pytest

from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import parse_module
from torch2mlir.errors import PassError
from torch2mlir.transforms import PASSES

TEXT = """
func.func @f(%0: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %1 = torch.aten.exp %0 : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[2,3],f32>
  return %1 : !torch.vtensor<[2,3],f32>
}
"""


@pytest.mark.parametrize("target", ["linalg", "stablehlo", "tosa"])
def test_only_the_targets_dialects_are_left(target: str) -> None:
    name = "linalg-on-tensors" if target == "linalg" else target
    verify = PASSES[f"torch-verify-{name}-backend-contract"]()()
    module = parse_module(TEXT)
    with pytest.raises(PassError, match="a value of type !torch"):
        verify.apply(make_context(), module)
    PASSES[f"convert-torch-to-{target}"]()().apply(make_context(), module)
    verify.apply(make_context(), module)


def test_every_pass_has_the_name_it_is_listed_under() -> None:
    for name, load in PASSES.items():
        assert load().name == name
