"""How far applications come in a span of simulated time, measured by how long they take alone to come as far.

Programs go through phases in which a warp instruction takes a hundred times as long as in others, and whoever shares a
machine has seen fewer of them by the end of a span. So a speedup is not one rate over another, but the time in which
the application alone has executed as many warp instructions, over the span.
"""
import numpy


class Progress:
    """Warp instructions of each tenant of a run by time, from its output file."""

    def __init__(self, file):
        ends = file["tenants"]["end"].tolist()
        # A run in which all tenants have been done once goes on to the end of an epoch, which does not count.
        last = min(int(file["final/end"][()]), max(ends))
        self.end = last * 1e-9
        times = numpy.concatenate([[0], file["epochs/time"][:] * 1e-9])  # microseconds
        executed = file["stats/sm/warp_instructions"][:].sum(axis=1)
        executed = numpy.concatenate([[executed[0] * 0.0], executed.cumsum(axis=0)])
        for tenant, end in enumerate(ends):
            if end != last:  # what it has begun anew, until the others are done
                executed[-1, tenant] = numpy.interp(self.end, times, executed[:, tenant])
        self.times, self.executed = numpy.minimum(times, self.end), executed

    def idle(self, tenant):
        """For how long it has executed nothing at the end of the run: it copies."""
        executed = self.executed[:, tenant]
        return self.end - self.times[int(numpy.searchsorted(executed, executed[-1]))]

    def time_of(self, instructions, span, idle=0):
        """When the only tenant of this run, which starts over when it is done, has executed so many, and has executed
        nothing more for a time `idle`: it copies for as long, at most until its next instruction."""
        whole = self.executed[-1, 0]
        if self.end < span:
            rounds, rest = divmod(instructions, whole)
            if rest == 0 and rounds:  # behind the last kernel of a round
                return min((rounds - 1) * self.end + self.times_at(whole)[0] + idle,
                           rounds * self.end + self.times_at(0)[1])
            first, last = self.times_at(rest)
            return rounds * self.end + min(first + idle, last)
        if instructions <= whole:
            first, last = self.times_at(instructions)
            return min(first + idle, last)
        half = numpy.interp(self.end / 2, self.times, self.executed[:, 0])  # goes on as in the second half of the span
        return self.end + (instructions - whole) / (whole - half) * self.end / 2

    def times_at(self, instructions):
        """When it first and last had executed so many: twice the same, unless it copied then."""
        executed = self.executed[:, 0]
        after = int(numpy.searchsorted(executed, instructions))  # the first epoch that has come as far
        if executed[after] == instructions:
            return self.times[after], self.times[int(numpy.searchsorted(executed, instructions, side="right")) - 1]
        share = (instructions - executed[after - 1]) / (executed[after] - executed[after - 1])
        time = self.times[after - 1] + share * (self.times[after] - self.times[after - 1])
        return time, time


def speedups(shared, alone):
    """Of each tenant of a run over its run alone, which had the same span."""
    shared = Progress(shared)
    return [Progress(run).time_of(instructions, shared.end, shared.idle(tenant)) / shared.end
            for tenant, (instructions, run) in enumerate(zip(shared.executed[-1], alone))]
