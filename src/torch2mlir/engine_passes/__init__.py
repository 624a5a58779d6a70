"""Passes over target dialects that engines name: what their compilers get wrong, or slow, is said otherwise.

Each file is a pass and says of which engine and version it is; ``docs/engines.md`` shows the programs. An engine's
``passes`` say in which order they run. Beside them, what they are written with: ``beside`` (new ops next to one),
``in_place_of`` (an op by a lowering's words), ``loop_nests``, ``kept_apart`` and ``stablehlo_held`` (barriers).
Nothing here imports PyTorch.
"""
