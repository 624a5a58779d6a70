"""Sizes rounded up: a proof, op by op, that what is computed beyond the real sizes does not reach the real elements."""
