"""Clusters that are compiled, and PyTorch for the rest: what stands behind ``torch2mlir.optimize``."""
