"""From the backend contract to Linalg-on-Tensors, StableHLO and TOSA; nothing here imports PyTorch."""
