"""The OKF bundle: reading concepts, validating them, and what is generated from them."""
