"""One file per kind of layer, each complete about itself."""
