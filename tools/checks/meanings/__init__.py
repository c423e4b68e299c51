"""Inputs that were once misread, one module a subject; tools/checks/check_meanings.py runs them."""
