"""Imports jsonschema, with Debian's Python if this one lacks it, and skips the test (exit code 77) without it."""

import copy
import os
import sys

try:
    import jsonschema
except ImportError:
    debian = "/usr/bin/python3"  # where the package python3-jsonschema goes
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    print("skipped: no Python module jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)

__all__ = ["DELETE", "broken", "jsonschema"]
DELETE = object()


def broken(whole, path, value):
    """Returns a copy with another value at a path of keys; DELETE takes the last key away."""
    whole = copy.deepcopy(whole)
    *parents, last = path
    parent = whole
    for key in parents:
        parent = parent[key]
    if value is DELETE:
        del parent[last]
    else:
        parent[last] = value
    return whole
