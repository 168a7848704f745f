"""The scripts of the command are no tests: they need the frameworks, and pytest looks into every module for examples."""

from __future__ import annotations

collect_ignore_glob = ["*.py"]
