"""Where a claimed number comes from: edits of a layer as values, and the search among them."""
