"""``python -m paramsym``."""

from __future__ import annotations

import sys

from paramsym.cli import main

if __name__ == "__main__":
    sys.exit(main())
