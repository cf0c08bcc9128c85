"""Medians with distribution-free intervals."""
import math
import statistics


def interval(values, confidence=0.95):
    """The order statistics between which the median lies, whatever the distribution; with few values, their range."""
    ordered, n = sorted(values), len(values)
    tail, low = 0.0, 0
    for k in range(n // 2):
        tail += math.comb(n, k) / 2**n
        if tail > (1 - confidence) / 2:
            break
        low = k + 1
    return ordered[low - 1 if low else 0], ordered[n - low if low else n - 1]


def summary(values):
    low, high = interval(values)
    return {"median": statistics.median(values), "low": low, "high": high}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))
