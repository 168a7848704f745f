"""The atlas: derived closed forms of model types that have no family of their own, one record for each type."""
