"""Every metric that the code counts is in the operator's table, and the other way round."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_metrics_and_their_table_agree() -> None:
    sources = [*(ROOT / "shared").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    counted = {
        name
        for path in sources
        for name in re.findall(r'\.count\(\s*"((?:automations|schedules)\.\w+)"', path.read_text())
    }
    table = (ROOT / "docs" / "operations.md").read_text()
    documented = set(re.findall(r"^\| `((?:automations|schedules)\.\w+)`", table, re.MULTILINE))
    assert counted == documented
