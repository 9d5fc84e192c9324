"""Checks that several tests of the Python package share."""


def raised(kind, call, *arguments, **named):
    """Returns the message of the exception, which must be one line."""
    try:
        call(*arguments, **named)
    except kind as error:
        assert "\n" not in str(error)
        return str(error)
    raise AssertionError(f"no {kind.__name__}")
