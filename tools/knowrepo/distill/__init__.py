"""From sessions to proposed concepts: what was decided, found out and wished, with its sources."""
