"""Passes and pipelines over the torch dialect, by the names Torch-MLIR gives them."""
