"""The run watchdog function."""
