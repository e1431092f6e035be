"""The dead-letter notifier function."""
