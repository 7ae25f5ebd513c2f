"""How far applications come in a span of simulated time, measured by how long they take alone to come as far.

Programs go through phases in which a warp instruction takes a hundred times as long as in others, and whoever shares a
machine has seen fewer of them by the end of a span. So a speedup is not one rate over another, but the time in which
the application alone has executed as many warp instructions, over the span.
"""
import numpy


class Progress:
    """Warp instructions of each tenant of a run by time, from its output file."""

    def __init__(self, file):
        self.end = int(file["final/end"][()]) * 1e-9
        self.times = numpy.concatenate([[0], file["epochs/time"][:] * 1e-9])  # microseconds
        executed = file["stats/sm/warp_instructions"][:].sum(axis=1)
        self.executed = numpy.concatenate([[executed[0] * 0], executed.cumsum(axis=0)])

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
