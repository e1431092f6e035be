"""The migrations, applied in the order of their names."""
