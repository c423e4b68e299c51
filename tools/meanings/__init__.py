"""Inputs that were once misread, one module a subject; tools/check_meanings.py runs them."""
