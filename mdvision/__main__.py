"""`python -m mdvision` is the command `mdvision`."""

import sys

from mdvision.cli import main

if __name__ == "__main__":
    sys.exit(main())
