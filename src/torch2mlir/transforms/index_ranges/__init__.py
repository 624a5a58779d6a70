"""Tensors of indices: which ops take them, the range each must keep to, and what is known of their elements."""
