"""A layer or a program as a table, as LaTeX, as a picture."""
