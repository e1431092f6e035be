"""The client commands: they speak HTTP to any deployment."""
