"""Checking a bundle against OKF, and saying what is to be mended."""
