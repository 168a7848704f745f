"""Sizes and their arithmetic: symbols, exact polynomials, quotients, the sizes that a sliding window leaves."""
