"""The explorer: a page with sliders that computes exact counts of a model in the browser, from data that the other rooms give."""
