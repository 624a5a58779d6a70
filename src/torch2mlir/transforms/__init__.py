"""Passes over the torch dialect and to the target dialects, by their pipeline names.

Passes are imported when they are run: the ones that need PyTorch's semantics import it, the others do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from xdsl.passes import ModulePass

from torch2mlir.errors import PassError

_LOCATIONS: dict[str, str] = {
    "canonicalize": "torch2mlir.transforms.canonicalize_everything:CanonicalizeEverythingPass",
    "inline": "torch2mlir.transforms.inline:InlinePass",
    "symbol-dce": "torch2mlir.transforms.symbol_dce:SymbolDcePass",
    "torch-adjust-calling-conventions": (
        "torch2mlir.transforms.adjust_calling_conventions:AdjustCallingConventionsPass"
    ),
    "torch-erase-module-initializer": (
        "torch2mlir.transforms.erase_module_initializer:EraseModuleInitializerPass"
    ),
    "torch-bools-to-integers": "torch2mlir.transforms.bools_of_scalars:BoolsToIntegersPass",
    "torch-integers-to-bools": "torch2mlir.transforms.bools_of_scalars:IntegersToBoolsPass",
    "torch-canonicalize": "torch2mlir.transforms.canonicalize:CanonicalizePass",
    "torch-inline-global-slots": "torch2mlir.transforms.inline_global_slots:InlineGlobalSlotsPass",
    "torch-reduce-op-variants": "torch2mlir.transforms.reduce_op_variants:ReduceOpVariantsPass",
    "torch-mask-padding": "torch2mlir.transforms.mask_padding:MaskPaddingPass",
    "torch-maximize-value-semantics": (
        "torch2mlir.transforms.maximize_value_semantics:MaximizeValueSemanticsPass"
    ),
    "torch-globalize-object-graph": (
        "torch2mlir.transforms.globalize_object_graph:GlobalizeObjectGraphPass"
    ),
    "torch-prepare-for-globalize-object-graph": (
        "torch2mlir.transforms.prepare_for_globalize_object_graph:PrepareForGlobalizeObjectGraphPass"
    ),
    "torch-check-backend-contract": (
        "torch2mlir.transforms.check_backend_contract:CheckBackendContractPass"
    ),
    "torch-decompose-complex-ops": "torch2mlir.transforms.decompose_complex_ops:DecomposeComplexOpsPass",
    "torch-lower-to-backend-contract": (
        "torch2mlir.transforms.lower_to_backend_contract:LowerToBackendContractPass"
    ),
    "torch-recompose-complex-ops": (
        "torch2mlir.transforms.recompose_complex_ops:RecomposeComplexOpsPass"
    ),
    "torch-simplify-shape-calculations": (
        "torch2mlir.transforms.simplify_shape_calculations:SimplifyShapeCalculationsPass"
    ),
    "torch-simplify-dtype-calculations": (
        "torch2mlir.transforms.simplify_dtype_calculations:SimplifyDtypeCalculationsPass"
    ),
    "torch-drop-abstract-interp-calculations": (
        "torch2mlir.transforms.drop_abstract_interp_calculations:DropAbstractInterpCalculationsPass"
    ),
    "torch-reify-shape-calculations": "torch2mlir.transforms.replaced_passes:ReifyShapeCalculationsPass",
    "torch-reify-dtype-calculations": "torch2mlir.transforms.replaced_passes:ReifyDtypeCalculationsPass",
    "torch-fuse-quantized-ops": ("torch2mlir.transforms.fuse_quantized_ops:FuseQuantizedOpsPass"),
    "torch-match-quantized-custom-ops": (
        "torch2mlir.transforms.match_quantized_custom_ops:MatchQuantizedCustomOpsPass"
    ),
    "torch-scalarize-shapes": ("torch2mlir.transforms.scalarize_shapes:ScalarizeShapesPass"),
    "torch-func-backend-type-conversion": (
        "torch2mlir.transforms.replaced_passes:FuncBackendTypeConversionPass"
    ),
    "torch-func-backend-type-conversion-for-stablehlo": (
        "torch2mlir.transforms.replaced_passes:FuncBackendTypeConversionForStablehloPass"
    ),
    "torch-finalizing-backend-type-conversion": (
        "torch2mlir.transforms.replaced_passes:FinalizingBackendTypeConversionPass"
    ),
    "torch-finalizing-backend-type-conversion-for-stablehlo": (
        "torch2mlir.transforms.replaced_passes:FinalizingBackendTypeConversionForStablehloPass"
    ),
    "convert-torch-to-arith": ("torch2mlir.transforms.replaced_passes:ConvertTorchToArithPass"),
    "convert-torch-to-scf": ("torch2mlir.transforms.replaced_passes:ConvertTorchToScfPass"),
    "convert-torch-to-tensor": ("torch2mlir.transforms.replaced_passes:ConvertTorchToTensorPass"),
    "convert-torch-to-tmtensor": (
        "torch2mlir.transforms.replaced_passes:ConvertTorchToTmtensorPass"
    ),
    "convert-torch-conversion-to-mlprogram": (
        "torch2mlir.transforms.replaced_passes:ConvertTorchConversionToMlprogramPass"
    ),
    "torch-restructure-non-constant-axes": (
        "torch2mlir.transforms.replaced_passes:RestructureNonConstantAxesPass"
    ),
    "torch-unpack-quant-tensor": ("torch2mlir.transforms.replaced_passes:UnpackQuantTensorPass"),
    "torch-convert-custom-quant-op": (
        "torch2mlir.transforms.replaced_passes:ConvertCustomQuantOpPass"
    ),
    "convert-torch-onnx-to-torch": (
        "torch2mlir.transforms.refused_passes:ConvertTorchOnnxToTorchPass"
    ),
    "tm-tensor-to-loops": ("torch2mlir.transforms.refused_passes:TmTensorToLoopsPass"),
    "tm-tensor-bufferize": ("torch2mlir.transforms.refused_passes:TmTensorBufferizePass"),
    "refback-generalize-tensor-concat": (
        "torch2mlir.transforms.refused_passes:RefbackGeneralizeTensorConcatPass"
    ),
    "refback-generalize-tensor-pad": (
        "torch2mlir.transforms.refused_passes:RefbackGeneralizeTensorPadPass"
    ),
    "refback-mlprogram-bufferize": (
        "torch2mlir.transforms.refused_passes:RefbackMlprogramBufferizePass"
    ),
    "refback-munge-memref-copy": (
        "torch2mlir.transforms.refused_passes:RefbackMungeMemrefCopyPass"
    ),
    "refback-munge-calling-conventions": (
        "torch2mlir.transforms.refused_passes:RefbackMungeCallingConventionsPass"
    ),
    "refback-expand-ops-for-llvm": (
        "torch2mlir.transforms.refused_passes:RefbackExpandOpsForLlvmPass"
    ),
    "torch-verify-linalg-on-tensors-backend-contract": (
        "torch2mlir.transforms.verify_dialect_contract:VerifyLinalgOnTensorsBackendContractPass"
    ),
    "torch-verify-stablehlo-backend-contract": (
        "torch2mlir.transforms.verify_dialect_contract:VerifyStablehloBackendContractPass"
    ),
    "torch-verify-tosa-backend-contract": (
        "torch2mlir.transforms.verify_dialect_contract:VerifyTosaBackendContractPass"
    ),
    "torch-refine-types": "torch2mlir.transforms.refine_types:RefineTypesPass",
    "torch-masked-updates": "torch2mlir.transforms.masked_updates:MaskedUpdatesPass",
    "torch-check-indices": "torch2mlir.transforms.check_indices:CheckIndicesPass",
    "torch-check-numbers": "torch2mlir.transforms.check_numbers:CheckNumbersPass",
    "torch-checks-as-results": "torch2mlir.transforms.checks_as_results:ChecksAsResultsPass",
    "torch-fill-uninitialized": "torch2mlir.transforms.fill_uninitialized:FillUninitializedPass",
    "torch-unpacked-parts": "torch2mlir.transforms.unpacked_parts:UnpackedPartsPass",
    "torch-keep-products": "torch2mlir.transforms.kept_products:KeepProductsPass",
    "torch-known-values": "torch2mlir.transforms.known_values:KnownValuesPass",
    "torch-run-time-positions": ("torch2mlir.transforms.run_time_positions:RunTimePositionsPass"),
    "torch-seed-random-ops": "torch2mlir.transforms.seed_random_ops:SeedRandomOpsPass",
    "torch-share-heads": "torch2mlir.transforms.share_heads:ShareHeadsPass",
    "torch-decompose-for-onnx": "torch2mlir.transforms.decompose_for_onnx:DecomposeForOnnxPass",
    "torch-decompose-for-onnx-opset18": (
        "torch2mlir.transforms.decompose_for_onnx:DecomposeForOnnxOpset18Pass"
    ),
    "torch-decompose-for-onnx-opset21": (
        "torch2mlir.transforms.decompose_for_onnx:DecomposeForOnnxOpset21Pass"
    ),
    "torch-split-complex-ops": "torch2mlir.transforms.split_complex:SplitComplexOpsPass",
    "torch-state-as-arguments": "torch2mlir.transforms.state_as_arguments:StateAsArgumentsPass",
    "torch-weights-as-arguments": "torch2mlir.transforms.weights_as_arguments:WeightsAsArgumentsPass",
    "prepare-weights": "torch2mlir.conversion.prepare_weights:PrepareWeightsPass",
    "torch-refine-public-return": (
        "torch2mlir.transforms.refine_public_return:RefinePublicReturnPass"
    ),
    "torch-verify-backend-contract-no-decompositions": (
        "torch2mlir.transforms.verify_backend_contract:VerifyBackendContractNoDecompositionsPass"
    ),
    "torch-simplification-pipeline": (
        "torch2mlir.transforms.simplification:SimplificationPipelinePass"
    ),
    "torch-shape-refinement-pipeline": ("torch2mlir.named_pipelines:ShapeRefinementPipeline"),
    "torchscript-module-to-torch-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchscriptModuleToTorchBackendPipeline"
    ),
    "torch-function-to-torch-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchFunctionToTorchBackendPipeline"
    ),
    "torchdynamo-export-to-torch-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchdynamoExportToTorchBackendPipeline"
    ),
    "torch-onnx-to-torch-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchOnnxToTorchBackendPipeline"
    ),
    "torch-backend-to-linalg-on-tensors-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchBackendToLinalgOnTensorsBackendPipeline"
    ),
    "torch-backend-to-stablehlo-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchBackendToStablehloBackendPipeline"
    ),
    "torch-backend-to-target-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchBackendToTargetBackendPipeline"
    ),
    "torch-backend-to-tosa-backend-pipeline": (
        "torch2mlir.named_pipelines:TorchBackendToTosaBackendPipeline"
    ),
    "convert-torch-to-linalg": "torch2mlir.conversion.driver:ConvertTorchToLinalgPass",
    "convert-torch-to-stablehlo": "torch2mlir.conversion.driver:ConvertTorchToStablehloPass",
    "convert-torch-to-tosa": "torch2mlir.conversion.driver:ConvertTorchToTosaPass",
    "convert-torch-to-target": "torch2mlir.conversion.driver:ConvertTorchToTargetPass",
    "stablehlo-channels-last": (
        "torch2mlir.engine_passes.stablehlo_channels_last:StablehloChannelsLastPass"
    ),
    "stablehlo-hold-differences": (
        "torch2mlir.engine_passes.stablehlo_hold_differences:StablehloHoldDifferencesPass"
    ),
    "stablehlo-functions-to-linalg": (
        "torch2mlir.engine_passes.stablehlo_functions_to_linalg:StablehloFunctionsToLinalgPass"
    ),
    "stablehlo-sorts-by-position": (
        "torch2mlir.engine_passes.stablehlo_sorts_by_position:StablehloSortsByPositionPass"
    ),
    "stablehlo-hold-identities": (
        "torch2mlir.engine_passes.stablehlo_hold_identities:StablehloHoldIdentitiesPass"
    ),
    "stablehlo-hold-divisors": (
        "torch2mlir.engine_passes.stablehlo_hold_divisors:StablehloHoldDivisorsPass"
    ),
    "stablehlo-hold-products": (
        "torch2mlir.engine_passes.stablehlo_hold_products:StablehloHoldProductsPass"
    ),
    "stablehlo-extrema-of-nan": (
        "torch2mlir.engine_passes.stablehlo_extrema_of_nan:StablehloExtremaOfNanPass"
    ),
    "stablehlo-exponentials-of-nan": (
        "torch2mlir.engine_passes.stablehlo_exponentials_of_nan:StablehloExponentialsOfNanPass"
    ),
    "stablehlo-roots-by-quotients": (
        "torch2mlir.engine_passes.stablehlo_roots_by_quotients:StablehloRootsByQuotientsPass"
    ),
    "stablehlo-sizes-of-signless": (
        "torch2mlir.engine_passes.stablehlo_sizes_of_signless:StablehloSizesOfSignlessPass"
    ),
    "stablehlo-wide-depthwise": (
        "torch2mlir.engine_passes.stablehlo_wide_depthwise:StablehloWideDepthwisePass"
    ),
    "stablehlo-products-of-one-term": (
        "torch2mlir.engine_passes.stablehlo_products_of_one_term:StablehloProductsOfOneTermPass"
    ),
    "stablehlo-products-of-one-row": (
        "torch2mlir.engine_passes.stablehlo_products_of_one_row:StablehloProductsOfOneRowPass"
    ),
    "stablehlo-pack-sorts": "torch2mlir.engine_passes.stablehlo_pack_sorts:StablehloPackSortsPass",
    "stablehlo-angles-by-formulas": (
        "torch2mlir.engine_passes.stablehlo_angles_by_formulas:StablehloAnglesByFormulasPass"
    ),
    "depthwise-to-sums": "torch2mlir.engine_passes.depthwise_to_sums:DepthwiseToSumsPass",
    "onnx-extrema-of-infinities": (
        "torch2mlir.engine_passes.onnx_extrema_of_infinities:OnnxExtremaOfInfinitiesPass"
    ),
    "onnx-extrema-of-integers": (
        "torch2mlir.engine_passes.onnx_extrema_of_integers:OnnxExtremaOfIntegersPass"
    ),
    "onnx-sums-in-doubles": ("torch2mlir.engine_passes.onnx_sums_in_doubles:OnnxSumsInDoublesPass"),
    "onnx-kernels-apart": "torch2mlir.engine_passes.onnx_kernels_apart:OnnxKernelsApartPass",
    "onnx-long-sums-by-parts": (
        "torch2mlir.engine_passes.onnx_long_sums_by_parts:OnnxLongSumsByPartsPass"
    ),
    "onnx-magnitudes-by-maxima": (
        "torch2mlir.engine_passes.onnx_magnitudes_by_maxima:OnnxMagnitudesByMaximaPass"
    ),
    "onnx-nans-kept": "torch2mlir.engine_passes.onnx_nans_kept:OnnxNansKeptPass",
    "onnx-one-rank-of-elements": (
        "torch2mlir.engine_passes.onnx_one_rank_of_elements:OnnxOneRankOfElementsPass"
    ),
    "onnx-functions-by-formulas": (
        "torch2mlir.engine_passes.onnx_functions_by_formulas:OnnxFunctionsByFormulasPass"
    ),
    "onnx-products-of-two-lines": (
        "torch2mlir.engine_passes.onnx_products_of_two_lines:OnnxProductsOfTwoLinesPass"
    ),
    "onnx-rows-to-scatter-nd": (
        "torch2mlir.engine_passes.onnx_rows_to_scatter_nd:OnnxRowsToScatterNdPass"
    ),
    "onnx-images-apart": "torch2mlir.engine_passes.onnx_images_apart:OnnxImagesApartPass",
    "onnx-sums-of-zeros": "torch2mlir.engine_passes.onnx_sums_of_zeros:OnnxSumsOfZerosPass",
    "onnx-where-keeps-zeros": (
        "torch2mlir.engine_passes.onnx_where_keeps_zeros:OnnxWhereKeepsZerosPass"
    ),
    "onnx-widen-for-onnxruntime": (
        "torch2mlir.engine_passes.onnx_widen_for_onnxruntime:WidenForOnnxRuntimePass"
    ),
    "remainders-by-quotients": (
        "torch2mlir.engine_passes.remainders_by_quotients:RemaindersByQuotientsPass"
    ),
    "stablehlo-remainders-by-quotients": (
        "torch2mlir.engine_passes.remainders_by_quotients:StablehloRemaindersByQuotientsPass"
    ),
    "reduce-angles": "torch2mlir.engine_passes.reduce_angles:ReduceAnglesPass",
    "erf-of-doubles": "torch2mlir.engine_passes.erf_of_doubles:ErfOfDoublesPass",
    "long-sums-in-doubles": ("torch2mlir.engine_passes.long_sums_in_doubles:LongSumsInDoublesPass"),
    "round-by-sums": "torch2mlir.engine_passes.round_by_sums:RoundBySumsPass",
    "reductions-by-columns": "torch2mlir.engine_passes.reductions_by_columns:ReductionsByColumnsPass",
    "keep-small-arguments": (
        "torch2mlir.engine_passes.keep_small_arguments:KeepSmallArgumentsPass"
    ),
    "compute-reductions-first": (
        "torch2mlir.engine_passes.compute_reductions_first:ComputeReductionsFirstPass"
    ),
    "products-before-sums": (
        "torch2mlir.engine_passes.products_before_sums:ProductsBeforeSumsPass"
    ),
    "stablehlo-complex-pads-by-parts": (
        "torch2mlir.engine_passes.stablehlo_complex_pads_by_parts:StablehloComplexPadsByPartsPass"
    ),
    "stablehlo-scatters-from-the-front": (
        "torch2mlir.engine_passes.stablehlo_scatters_from_the_front:StablehloScattersFromTheFrontPass"
    ),
    "concats-of-parts": "torch2mlir.engine_passes.concats_of_parts:ConcatsOfPartsPass",
    "compute-slices-first": "torch2mlir.engine_passes.compute_slices_first:ComputeSlicesFirstPass",
    "bind-few-tensors": "torch2mlir.engine_passes.bind_few_tensors:BindFewTensorsPass",
    "compute-masks-first": "torch2mlir.engine_passes.compute_masks_first:ComputeMasksFirstPass",
    "end-at-loops": "torch2mlir.engine_passes.end_at_loops:EndAtLoopsPass",
    "divisions-that-do-not-trap": (
        "torch2mlir.engine_passes.divisions_that_do_not_trap:DivisionsThatDoNotTrapPass"
    ),
    "integers-to-bfloat16-by-bits": (
        "torch2mlir.engine_passes.integers_to_bfloat16_by_bits:IntegersToBfloat16ByBitsPass"
    ),
    "extend-bfloat16-by-bits": (
        "torch2mlir.engine_passes.extend_bfloat16_by_bits:ExtendBfloat16ByBitsPass"
    ),
    "keep-terms-of-sums": "torch2mlir.engine_passes.keep_terms_of_sums:KeepTermsOfSumsPass",
    "tosa-few-sums-to-scatters": (
        "torch2mlir.engine_passes.tosa_few_sums_to_scatters:TosaFewSumsToScattersPass"
    ),
    "tosa-hits-to-scatters": (
        "torch2mlir.engine_passes.tosa_hits_to_scatters:TosaHitsToScattersPass"
    ),
    "tosa-extrema-to-linalg": (
        "torch2mlir.engine_passes.tosa_extrema_to_linalg:TosaExtremaToLinalgPass"
    ),
    "tosa-elementwise-to-linalg": (
        "torch2mlir.engine_passes.tosa_elementwise_to_linalg:TosaElementwiseToLinalgPass"
    ),
    "tosa-integer-sums-to-scans": (
        "torch2mlir.engine_passes.tosa_integer_sums_to_scans:TosaIntegerSumsToScansPass"
    ),
    "tosa-positions-to-linalg": (
        "torch2mlir.engine_passes.tosa_positions_to_linalg:TosaPositionsToLinalgPass"
    ),
    "tosa-products-of-one-row": (
        "torch2mlir.engine_passes.tosa_products_of_one_row:TosaProductsOfOneRowPass"
    ),
    "tosa-products-of-one-term": (
        "torch2mlir.engine_passes.tosa_products_of_one_term:TosaProductsOfOneTermPass"
    ),
    "tosa-transposed-to-convolutions": (
        "torch2mlir.engine_passes.tosa_transposed_to_convolutions:TosaTransposedToConvolutionsPass"
    ),
    "tosa-biases-apart": "torch2mlir.engine_passes.tosa_biases_apart:TosaBiasesApartPass",
    "tosa-hold-zeros": "torch2mlir.engine_passes.tosa_hold_zeros:TosaHoldZerosPass",
    "tosa-scatters-to-iree": (
        "torch2mlir.engine_passes.tosa_scatters_to_iree:TosaScattersToIreePass"
    ),
    "tosa-control-flow-to-scf": (
        "torch2mlir.engine_passes.tosa_control_flow_to_scf:TosaControlFlowToScfPass"
    ),
    "linalg-loops-to-iree": ("torch2mlir.engine_passes.linalg_loops_to_iree:LinalgLoopsToIreePass"),
    "stablehlo-legalize-to-hlo": (
        "torch2mlir.conversion.stablehlo_legalize_to_hlo:StablehloLegalizeToHloPass"
    ),
}


def _loader(name: str, location: str) -> Callable[[], type[ModulePass]]:
    @cache
    def load() -> type[ModulePass]:
        module, _, attribute = location.partition(":")
        try:
            found: type[ModulePass] = getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise PassError(
                f"the pass '{name}' runs PyTorch's own semantics, and PyTorch is not installed",
                hint="pip install torch",
            ) from error
        return found

    return load


PASSES: dict[str, Callable[[], type[ModulePass]]] = {
    name: _loader(name, location) for name, location in _LOCATIONS.items()
}
"""Pipeline name -> loader of the pass."""
