"""`python -m callscope` is the command `callscope`."""

from callscope.cli import main

main()
