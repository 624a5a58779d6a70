"""Memory of tensors: which ops write it, which share it, and what a function that writes none would say instead."""
