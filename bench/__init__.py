"""What `make bench` measures: counts, ratios and costs, each defined in docs/performance.md."""

import os

# The layer has no awscrt; here the tools for tests bring it, and botocore would sign with it.
os.environ.setdefault("BOTO_DISABLE_CRT", "true")
