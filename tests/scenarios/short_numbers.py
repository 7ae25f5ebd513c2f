"""Metrics as `watch` and the kernels of `report` write them, and rates as the table of a run does."""
import pandas as pd


def in_short(metric, value):
    if pd.isna(value):
        return "-"
    if metric["unit"] == "ratio":
        return f"{100 * value:.1f}%"
    if metric["unit"] == "bytes/s":
        return f"{value * 1e-9:.2f}"
    if 0 < value < 0.01:
        return f"{value:.2g}"
    return f"{value:.3f}" if value < 100 else f"{value:.0f}"


def rate_text(rate):
    return f"{rate:.1g}" if 0 < rate < 0.01 else f"{rate:.2f}"
