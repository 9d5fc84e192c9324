"""Finds out if a program was built with a sanitizer."""

import resource
import subprocess


def sanitized(program):
    """Under the address and thread sanitizers a program reserves terabytes of addresses."""

    def limit_memory():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    return subprocess.run([program, "--version"], preexec_fn=limit_memory, capture_output=True).returncode != 0
