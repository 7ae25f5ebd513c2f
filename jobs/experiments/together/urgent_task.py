"""The urgent task of these experiments: how it arrives on eight SMs, and by how much it ends later than alone."""
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

MICROSECOND = 10**9  # in femtoseconds
SMS = 8
# One wave: as many blocks as eight SMs hold, of 256 threads and 16 registers a thread.
TASK = f"{{blocks: {SMS * 8}, rounds: 20}}"
ARRIVALS = 8
SPAN = f"{300 + 200 * ARRIVALS}us"  # in which all of them end


def tenant(more=""):
    """Returns its text in a scenario. `more`: further keys."""
    return (f"  - {{name: urgent, workload: {sweeps.REPOSITORY}/configs/workloads/urgent.yaml, parameters: {TASK}, "
            f"priority: 1{more}, arrival: 300us, arrivals: {{uniform: [60us, 260us], count: {ARRIVALS}}}}}\n")


@sweeps.blank_if_missing(ARRIVALS)
def times_of(output, number):
    """Returns the times of the tasks that ended, in femtoseconds. `number`: the task's among the tenants."""
    with sweeps.open_output(output) as file:
        rows = file["kernels"][:]
    urgent = rows[(rows["tenant"] == number) & (rows["done"] < 2**63 - 1)]
    return (urgent["done"] - urgent["launched"]).astype(float).tolist()


def time_alone(output):
    """Returns the time of the first task of a run without other tenants; later ones find their data in the caches."""
    return (times_of(output, 0) or [math.nan])[0]


def lateness(times, alone):
    """Returns by how many microseconds tasks end later than alone, in the mean and at most."""
    later = [(time - alone) / MICROSECOND for time in times]
    return sweeps.mean_of(later), max(later, default=math.nan)


def print_alone(alone, more=""):
    print(f"the task alone takes {sweeps.cell(alone / MICROSECOND, '.1f')} us{more}\n")
