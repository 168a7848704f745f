"""The atlas: derived closed forms of model types without a family, one record for each type."""
