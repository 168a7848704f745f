"""Exact values of closed forms: a straight-line program, run on numbers or on columns of them."""
