"""Answering a query: the structured layer first, hybrid search where it does not know."""
