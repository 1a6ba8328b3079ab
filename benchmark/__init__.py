"""Measurements and long runs: each module is a script that prints what it found."""
