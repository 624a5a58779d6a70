"""PyTorch's ``lazy`` device: computations it has recorded, as graphs to import."""
