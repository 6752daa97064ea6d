"""Time of several contenders in turn: in each round each is called for a stretch, so that all see the same clock and the same
neighbours, and a ratio is taken within a round."""

import statistics
import time
from dataclasses import dataclass, field


STRETCH_S = 0.02  # so long, or for one call, each contender is called in a round


def seconds_of(call):
    """A contender's seconds(repeats) from a call of Python."""

    def seconds(repeats):
        started = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - started) / repeats

    return seconds


@dataclass
class Samples:
    """Seconds of a call, one for each round, and how many calls a round averages over."""

    repeats: int
    seconds: list = field(default_factory=list)

    @property
    def minimum(self):
        return min(self.seconds)

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def noise(self):
        """Half of the middle half of the samples, as a share of the median."""
        if len(self.seconds) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2 / self.median


def paired_ratio(slow, fast):
    """The median over rounds of the one's time over the other's."""
    return statistics.median(a / b for a, b in zip(slow.seconds, fast.seconds))


def in_turn(contenders, budget_s, least_rounds=5, stretch_s=STRETCH_S, between=None, rest_s=0):
    """Samples of each contender: {name: seconds(repeats)}. Rounds go on for the budget, and are `least_rounds` at least. `between` is
    called once in each round. Before each stretch nothing runs for `rest_s`, then one call that is not counted: thread pools wait in a
    loop for some time after a call, on CPUs that the next contender needs."""
    samples = {}
    for name, seconds in contenders.items():
        seconds(1)  # the first call is warming up
        samples[name] = Samples(max(1, round(stretch_s / max(seconds(1), 1e-7))))
    started, rounds, names = time.perf_counter(), 0, list(contenders)
    while rounds < least_rounds or time.perf_counter() - started < budget_s:
        if between is not None:
            between()
        for name in names[rounds % len(names):] + names[:rounds % len(names)]:  # no contender is always the one after another
            if rest_s > 0:
                time.sleep(rest_s)
                contenders[name](1)
            samples[name].seconds.append(contenders[name](samples[name].repeats))
        rounds += 1
    return samples
