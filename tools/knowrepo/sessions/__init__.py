"""Archived agent transcripts: reading, redacting, and growing them without loss."""
