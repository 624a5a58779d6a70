"""OpenVINO without its telemetry, which forks the process at import to report its use: no good beside JAX's threads.

OpenVINO does without where the package is not installed; who has imported the package before keeps it.
"""

from __future__ import annotations

import sys

_NAME = "openvino_telemetry"

_hidden = _NAME not in sys.modules
if _hidden:
    sys.modules[_NAME] = None  # type: ignore[assignment]
try:
    import openvino
    from openvino.frontend.onnx import ConversionExtension
finally:
    if _hidden:
        del sys.modules[_NAME]

__all__ = ["ConversionExtension", "openvino"]
