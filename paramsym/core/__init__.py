"""The contract: what a layer states, what follows from it at once, and how layers are composed and edited."""
