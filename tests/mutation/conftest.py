"""The scripts beside the test are no tests: they need mutmut, and pytest looks into every module for examples."""

from __future__ import annotations

collect_ignore = ["mutants.py", "run.py"]
