"""Functions from a layer's ledger to an answer. They know the contract, never a concrete layer."""
