"""What the local stack raises when it cannot do what it was asked."""


class StackError(RuntimeError):
    """Raised when the stack cannot start; the message says what to change."""
