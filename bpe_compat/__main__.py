"""`python -m bpe_compat` is the command `bpe-compat`."""

import sys

from .cli import main

sys.exit(main())
