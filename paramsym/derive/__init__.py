"""Black boxes: reading a live module as a layer, and deriving the closed form of a build from what it gives."""
