"""The schedule reconciler function."""
