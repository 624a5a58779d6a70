"""Constants, conversions of element type, Fourier transforms and custom operations."""

from typing import Any

from xdsl.dialects.builtin import BoolAttr, DenseIntOrFPElementsAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from torch2mlir.dialects.tosa.attributes import RoundingModeAttr
from torch2mlir.dialects.tosa.base import (
    TENSOR,
    TosaOp,
    require_rank,
    require_same_shape,
    require_single_element,
)


@irdl_op_definition
class ConstOp(TosaOp):
    """A constant tensor. torch-mlir-opt knows only its generic form, so that is what we print."""

    name = "tosa.const"

    values = prop_def()
    output = result_def(TENSOR)
    traits = traits_def(Pure(), ConstantLike())

    # xDSL prints the generic form of an operation that does not override `print`.
    print = IRDLOperation.print

    def verify_(self) -> None:
        type_ = elements_type(self.values)
        if type_ is not None and type_ != self.output.type:
            raise VerifyException(
                f"{self.name}: values have type {type_}, result is {self.output.type}"
            )


def elements_type(elements: Attribute) -> Attribute | None:
    """The tensor type an elements attribute says it has, if it says so."""
    if isinstance(elements, DenseIntOrFPElementsAttr):
        return elements.get_type()
    type_: Any = getattr(elements, "type", None)
    return type_ if isinstance(type_, Attribute) else None


@irdl_op_definition
class CastOp(TosaOp):
    """Convert element types; `input_unsigned` is newer than torch-mlir-opt 20261001."""

    name = "tosa.cast"

    input = operand_def(TENSOR)
    input_unsigned = opt_prop_def(BoolAttr)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input=self.input, output=self.output)


@irdl_op_definition
class RescaleOp(TosaOp):
    """Fixed-point rescale between integer types, per tensor or per channel of the last axis."""

    name = "tosa.rescale"

    input = operand_def(TENSOR)
    multiplier = operand_def(TENSOR)
    shift = operand_def(TENSOR)
    input_zp = operand_def(TENSOR)
    output_zp = operand_def(TENSOR)
    scale32 = prop_def(BoolAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    per_channel = prop_def(BoolAttr)
    input_unsigned = prop_def(BoolAttr)
    output_unsigned = prop_def(BoolAttr)
    output = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_same_shape(self, input=self.input, output=self.output)
        require_rank(self, "multiplier", self.multiplier, 1)
        require_rank(self, "shift", self.shift, 1)
        require_single_element(self, input_zp=self.input_zp, output_zp=self.output_zp)


@irdl_op_definition
class FFT2DOp(TosaOp):
    """Fourier transform over H and W of a complex [N, H, W]; the inverse is not normalized."""

    name = "tosa.fft2d"

    input_real = operand_def(TENSOR)
    input_imag = operand_def(TENSOR)
    inverse = prop_def(BoolAttr)
    local_bound = opt_prop_def(BoolAttr)
    output_real = result_def(TENSOR)
    output_imag = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "input_real", self.input_real, 3)
        require_same_shape(
            self,
            input_real=self.input_real,
            input_imag=self.input_imag,
            output_real=self.output_real,
            output_imag=self.output_imag,
        )


@irdl_op_definition
class RFFT2DOp(TosaOp):
    """Fourier transform of a real [N, H, W]; the results are [N, H, W/2 + 1]."""

    name = "tosa.rfft2d"

    input_real = operand_def(TENSOR)
    local_bound = opt_prop_def(BoolAttr)
    output_real = result_def(TENSOR)
    output_imag = result_def(TENSOR)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        require_rank(self, "input_real", self.input_real, 3)
        require_same_shape(self, output_real=self.output_real, output_imag=self.output_imag)


@irdl_op_definition
class CustomOp(TosaOp):
    """An operation of the vendor `domain_name`, opaque to TOSA."""

    name = "tosa.custom"

    input_list = var_operand_def()
    operator_name = prop_def(StringAttr)
    domain_name = prop_def(StringAttr)
    implementation_attrs = prop_def(StringAttr)
    output_list = var_result_def()
