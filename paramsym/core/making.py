"""The functions behind the methods of ``Layer`` that return another layer: a part, an edit, a sequence, a repeat."""

from __future__ import annotations

from paramsym.core.compose import Repeat, chain
from paramsym.core.layer import Layer
from paramsym.core.patterns import frozen_at, replaced
from paramsym.core.tied import found_at

Layer._making.update(part=found_at, replace=replaced, freeze=frozen_at, chain=chain, repeat=Repeat)
