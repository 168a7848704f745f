"""Why a count contains a symbol, or does not: the derivation, its steps as values, and the sentences about them."""
