"""Everyday edits, as data: what people, papers and tools often count instead, with the words for a reader.

A habit names a reason that a person would give. Its edits are tried before the edits of single tensors, and rank before them.
"""
