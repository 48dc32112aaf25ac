"""Changing concepts that are there, and no byte more than is meant."""
