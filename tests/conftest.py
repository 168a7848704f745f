"""What every test shares: Hypothesis without deadlines, because a busy machine is no counterexample."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("paramsym", deadline=None)
settings.load_profile("paramsym")
