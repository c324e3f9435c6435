"""`python -m vqagen`: the program, where its script is not on the path."""

from vqagen.cli import main

if __name__ == "__main__":
    main()
