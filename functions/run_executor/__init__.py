"""The run executor function."""
