"""What automations do: one executor per file, imported on first use."""
