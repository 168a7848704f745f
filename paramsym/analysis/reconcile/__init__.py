"""Explanations of a claimed number: edits of a layer as values, and the search among them."""
