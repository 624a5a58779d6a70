"""``python -m torch2mlir``: the ``torch2mlir`` command."""

from torch2mlir.tools.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
