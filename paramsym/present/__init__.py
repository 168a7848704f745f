"""A layer as a table and as LaTeX."""
