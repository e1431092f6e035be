"""Ids: UUIDv7 and their text."""

from uuid import UUID

import pytest

from whenthen.domain.ids import parse_id, uuid7

RANDOM = bytes(range(10))


def test_a_uuid7_has_its_version_and_variant() -> None:
    found = uuid7(1, b"\xff" * 10)
    assert found.version == 7
    assert found.variant == "specified in RFC 4122"


def test_the_example_of_rfc_9562_comes_out() -> None:
    # Appendix A.6: rand_a CC3, rand_b 18C4DC0C0C07398F, at 2022-02-22T19:22:22Z.
    random = (0xCC3 << 68 | 0x18C4DC0C0C07398F).to_bytes(10)
    assert uuid7(0x017F22E279B0, random) == UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")


@pytest.mark.parametrize("bit", range(80))
def test_each_of_74_random_bits_counts(bit: int) -> None:
    changed = uuid7(5, (1 << bit).to_bytes(10)) != uuid7(5, bytes(10))
    assert changed == (bit < 62 or bit >= 68)


def test_later_ids_sort_after_earlier_ones() -> None:
    times = [0, 1, 1_767_225_600_000, 2**48 - 1]
    ids = [uuid7(unix_ms, RANDOM) for unix_ms in times]
    assert sorted(ids) == ids
    assert sorted(map(str, ids)) == list(map(str, ids))


@pytest.mark.parametrize("length", [0, 9, 11])
def test_another_number_of_random_bytes_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="10 random bytes"):
        uuid7(0, bytes(length))


@pytest.mark.parametrize(
    "text", ["019a0b5c-7e3d-7abc-8def-0123456789ab", "019A0B5C-7E3D-7ABC-8DEF-0123456789AB"]
)
def test_the_usual_form_is_an_id_in_either_case(text: str) -> None:
    assert parse_id(text) == UUID("019a0b5c-7e3d-7abc-8def-0123456789ab")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "from_trigger",
        "019a0b5c7e3d7abc8def0123456789ab",
        "{019a0b5c-7e3d-7abc-8def-0123456789ab}",
        "urn:uuid:019a0b5c-7e3d-7abc-8def-0123456789ab",
        "019a0b5c-7e3d-7abc-8def-0123456789a",
        "019a0b5c-7e3d-7abc-8def-0123456789abc",
        "019a0b5c-7e3d-7abc-8def-0123456789ag",
        "019a0b5c-7e3d-7abc-8def-0123456789a٣",
        "019a0b5c-7e3d-7abc-8def-0123456789ab\n",
    ],
)
def test_other_text_is_no_id(text: str) -> None:
    assert parse_id(text) is None
