"""`python -m mdvision_mcp`."""

import sys

from mdvision_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
