"""One file per kind of layer, with its tensors, forward pass and sources."""
