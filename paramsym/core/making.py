"""The functions behind the methods of ``Layer`` that return another layer: a part, an edit, a sequence, a repeat."""

from paramsym.core import compose, patterns, tied

chain = compose.chain
freeze = patterns.frozen_at
part = tied.found_at
repeat = compose.Repeat
replace = patterns.replaced
