"""A layer compared with existing tensors, in a module, a tree or a file, and proofs from finitely many instances.

It knows the contract and the ledger, never a concrete layer.
"""
