"""New concepts, and the log of what became of them."""
