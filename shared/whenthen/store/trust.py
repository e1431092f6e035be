"""Which certificates a database's server may show: the system's roots, and those of Amazon RDS."""

import ssl
from functools import cache
from importlib import resources


@cache
def trusting_context() -> ssl.SSLContext:
    """Return the TLS context of every connection; made once, since it reads 200 certificates.

    RDS and Aurora show certificates of roots of their own, one set to a region, which no system
    trusts; RDS Proxy shows those of a public root. rds_roots.pem holds the former
    (docs/decisions/0020-rds-roots.md).
    """
    context = ssl.create_default_context()
    roots = resources.files("whenthen.store").joinpath("rds_roots.pem").read_text("ascii")
    context.load_verify_locations(cadata=roots)
    return context
