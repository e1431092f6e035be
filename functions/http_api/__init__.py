"""The HTTP API function: routes, identity, errors."""
