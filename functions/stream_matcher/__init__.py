"""The stream matcher function."""
