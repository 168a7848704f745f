"""Truth: a layer against the tensors that really exist, in a module, a tree or a file, and proofs from finitely many of them.

It knows the contract and the ledger, never a concrete layer.
"""
