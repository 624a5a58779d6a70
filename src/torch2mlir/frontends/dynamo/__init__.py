"""Graphs of ``torch.compile``: what of them is compiled, what PyTorch runs, and both as programs."""
