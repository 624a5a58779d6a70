"""The command line, and tools for looking at programs."""

from torch2mlir.tools.schemas import node_schema_str

__all__ = ["node_schema_str"]
