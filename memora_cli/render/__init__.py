"""Rendering: values become tables, plain lines or JSON; the only user of Rich but for the command line."""
