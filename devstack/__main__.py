"""`python -m devstack`, which is what `whenthen dev` runs."""

import os
import sys

from devstack.main import main

exit_code = main()
sys.stdout.flush()
sys.stderr.flush()
# All is stopped by now, and taking moto's modules apart would take another second.
os._exit(exit_code)
