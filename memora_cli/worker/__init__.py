"""The worker: a process in the background that answers commands with everything warm."""
