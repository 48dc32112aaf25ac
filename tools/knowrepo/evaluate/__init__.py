"""Whether what a repository knows can still be found: its own recall tests, and the figures."""
