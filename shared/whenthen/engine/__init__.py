"""The use cases: each function is one thing that a handler may ask for."""
