"""The rules of the engine as plain values and functions: no I/O, no clock, no environment."""
