"""What AWS charges in us-east-1, written down, not fetched; docs/cost.md says where from."""

from dataclasses import dataclass

READ_IN = "November 2026"
MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars for `per` units."""

    usd: float
    unit: str
    per: int = 1

    def of(self, quantity: float) -> float:
        """Return what `quantity` units cost."""
        return quantity / self.per * self.usd


# Free tiers and volume discounts are left out: they belong to an account, not to a run.
PRICES = {
    "http_request": Price(1.00, "requests", MILLION),
    "internet_gb": Price(0.09, "GB"),
    "function_request": Price(0.20, "requests", MILLION),
    "function_gb_s": Price(0.0000133334, "GB-s"),
    "stream_gb_in": Price(0.08, "GB"),
    "stream_gb_out": Price(0.04, "GB"),
    "queue_request": Price(0.40, "requests", MILLION),
    "queue_group_request": Price(0.10, "requests", MILLION),
    "log_gb": Price(0.50, "GB"),
    "trace": Price(5.00, "traces", MILLION),
    # By the month, in docs/deploy.md.
    "stream_h": Price(0.04, "h"),
    "metric": Price(0.30, "metrics"),
    "alarm_metric": Price(0.10, "metrics"),
    "dashboard": Price(3.00, "dashboards"),
    "key": Price(1.00, "keys"),
    # Of AWS Step Functions.
    "state_transition": Price(0.025, "state transitions", 1_000),
    "express_request": Price(1.00, "requests", MILLION),
    "express_gb_s": Price(0.00001667, "GB-s"),
}
