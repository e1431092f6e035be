"""Which servers the engine believes: those of public roots, and every region's RDS and Aurora."""

import re
import ssl
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from whenthen.store.trust import trusting_context

ROOTS = resources.files("whenthen.store").joinpath("rds_roots.pem").read_text("ascii")
NAME = re.compile(r"Amazon RDS ([a-z]{2}(?:-[a-z]+)+-\d) Root CA (RSA2048|RSA4096|ECC384) G1")


def names(context: ssl.SSLContext) -> list[str]:
    certificates: list[dict[str, Any]] = [dict(item) for item in context.get_ca_certs()]
    parts = [part for certificate in certificates for part in certificate["subject"]]
    return [value for part in parts for key, value in part if key == "commonName"]


def test_certificates_and_names_are_checked() -> None:
    context = trusting_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_every_region_of_rds_is_trusted_with_each_of_its_three_roots() -> None:
    found = [
        match.groups() for name in names(trusting_context()) if (match := NAME.fullmatch(name))
    ]
    regions = {region for region, _ in found}
    assert {"eu-west-1", "us-east-1", "ap-southeast-2", "sa-east-1"} <= regions
    assert sorted(found) == sorted(
        (region, kind) for region in regions for kind in ("RSA2048", "RSA4096", "ECC384")
    )


def test_public_roots_are_trusted_too_as_the_proxy_needs() -> None:
    assert set(names(ssl.create_default_context())) <= set(names(trusting_context()))


def test_the_file_holds_roots_of_rds_alone_that_live_for_decades() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=ROOTS)
    certificates = context.get_ca_certs()
    assert len(certificates) == ROOTS.count("BEGIN CERTIFICATE")
    for certificate in certificates:
        assert certificate["subject"] == certificate["issuer"]
        ends_s = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
        assert datetime.fromtimestamp(ends_s, UTC).year >= 2060
    assert all(map(NAME.fullmatch, names(context)))


def test_the_context_is_made_once() -> None:
    assert trusting_context() is trusting_context()
