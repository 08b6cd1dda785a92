"""A run matched with qrels: order, ties, duplicates, cut-offs."""
