"""Operations whose text is composed at once: it is what xDSL writes piece by piece."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from xdsl.printer import Printer

from torch2mlir.dialects import make_context
from torch2mlir.dialects.parser import MlirParser
from torch2mlir.dialects.printer import MlirPrinter, module_text

TEXT = """
func.func @main(%x: tensor<?x6xf32>, %n: index, %a: f32, %b: i32) -> tensor<?x2xf32> {
  %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 3, 2] : tensor<?x6xf32> into tensor<?x3x2xf32>
  %f = tensor.expand_shape %x [[0], [1, 2]] output_shape [%n, 2, 3] {kept} : tensor<?x6xf32> into tensor<?x2x3xf32>
  %c = tensor.collapse_shape %e [[0, 1], [2]] : tensor<?x3x2xf32> into tensor<?x2xf32>
  %s = tensor.extract_slice %c[0, 1] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?x1xf32>
  %t = tensor.extract_slice %c[%n, 0] [4, 2] [%n, 1] : tensor<?x2xf32> to tensor<4x2xf32>
  %u, %v = "test.two"() ({
    %plain = arith.addf %a, %a : f32
    %flagged = arith.mulf %a, %a fastmath<fast> : f32
    %known = arith.addi %b, %b overflow<nsw> : i32
    %wide = arith.extf %a : f32 to f64
    "test.end"() : () -> ()
  }) : () -> (f32, f32)
  func.return %c : tensor<?x2xf32>
}
"""


def _printed(kind: type[Printer], **options: Any) -> str:
    module = MlirParser(make_context(allow_unregistered=True), TEXT).parse_module()
    stream = StringIO()
    kind(stream=stream, **options).print_op(module)
    return stream.getvalue()


@pytest.mark.parametrize("options", [{}, {"print_generic_format": True}, {"print_debuginfo": True}])
def test_it_is_what_xdsl_writes(options: dict[str, bool]) -> None:
    assert _printed(MlirPrinter, **options) == _printed(Printer, **options)


@pytest.mark.parametrize("watch", [sys.setprofile, sys.settrace], ids=["profile", "trace"])
def test_texts_are_the_same_under_a_profiler(watch: Callable[[Any], None]) -> None:
    """Python copies a string that grows there: a text of 763 MB took three minutes."""
    module = MlirParser(make_context(allow_unregistered=True), TEXT).parse_module()
    expected = module_text(module)
    watch(lambda *_: None)
    try:
        found = module_text(module)
    finally:
        watch(None)
    assert found == expected
