"""`python -m memora_cli` is `memora`."""

from memora_cli.client import main

main()
