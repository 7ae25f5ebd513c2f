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

    def time_of(self, instructions, span):
        """When the only tenant of this run, which starts over when it is done, has executed so many."""
        executed = self.executed[:, 0]
        whole = executed[-1]
        if self.end < span:
            rounds, rest = divmod(instructions, whole)
            return rounds * self.end + numpy.interp(rest, executed, self.times)
        if instructions <= whole:
            return numpy.interp(instructions, executed, self.times)
        half = numpy.interp(self.end / 2, self.times, executed)  # goes on as in the second half of the span
        return self.end + (instructions - whole) / (whole - half) * self.end / 2


def speedups(shared, alone):
    """Of each tenant of a run over its run alone, which had the same span."""
    shared = Progress(shared)
    return [Progress(run).time_of(instructions, shared.end) / shared.end
            for instructions, run in zip(shared.executed[-1], alone)]
