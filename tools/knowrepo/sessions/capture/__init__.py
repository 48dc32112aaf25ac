"""Capture: what agents' hooks noted, and putting our hooks into their settings."""
