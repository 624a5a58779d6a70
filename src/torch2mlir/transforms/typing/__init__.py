"""What is known of types beside PyTorch's meta kernels: their order, kinds of numbers, and calculations in the text."""
