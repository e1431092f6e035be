"""What `make bench` measures: counts, ratios and costs, each defined in docs/performance.md."""
