"""`python -m memora_cli` is `memora`."""

from memora_cli.cli import main

main()
