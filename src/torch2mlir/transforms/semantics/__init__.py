"""PyTorch's own semantics on the dialect's types: fake tensors, and ops called on them."""
