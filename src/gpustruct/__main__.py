"""``python -m gpustruct``: the same as the command ``gpustruct``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
