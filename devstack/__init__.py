"""The one-machine stack: the real template on emulated AWS, the real handlers, a real Postgres."""
