"""Measurements that anyone can run: what the tool costs on this machine, in ratios.

Owns generated corpora and the loops that they are compared with. It is used by `know bench`
alone; nothing else imports it.
"""
