"""Tenants that experiments put beside each other: where their time goes says their name."""
import machines

# Copies within the GPU's memory, again and again: bound by its DRAM, with nothing for the host link.
STREAM = f"""module: {machines.CONFIGS}/workloads/bandwidth.ptx
parameters: {{n: 1048576, rounds: 8, block: 256, blocks: 160}}
buffers:
  source: {{type: u32, count: n, memory: device}}
  copied: {{type: u32, count: n, memory: device}}
program:
  - repeat:
      times: rounds
      program:
        - launch: {{kernel: bandwidth_copy, grid: [blocks], block: [block], arguments: [source, copied, n / 4]}}
  - synchronize
"""
# A sum over managed memory, again and again: where not all of it fits, pages go and come back.
PASSES = f"""module: {machines.CONFIGS}/workloads/managed_add.ptx
parameters: {{n: 262144, passes: 3, block: 256, blocks: 64}}
buffers:
  x: {{type: f32, count: n, memory: managed, init: {{value: 1}}}}
  y: {{type: f32, count: n, memory: managed, init: {{value: 2}}}}
program:
  - repeat:
      times: passes
      program:
        - launch: {{kernel: managed_add, grid: [blocks], block: [block], arguments: [n, x, y]}}
        - synchronize
  - read: y
"""
FILES = {"stream.yaml": STREAM, "passes.yaml": PASSES}


def size(arguments, whole, quick, tiny):
    return tiny if arguments.tiny else quick if arguments.quick else whole


def gpu(arguments):
    """--tiny: a machine that is simulated in no time."""
    return "tiny" if arguments.tiny else "v100"


def small_gpu(arguments):
    """--quick, too: where pages go to and fro for long beside a tenant that never rests."""
    return "tiny" if arguments.tiny or arguments.quick else "v100"


def dense(arguments, name="dense", **more):
    return machines.tenant(name, "sgemm", {"n": size(arguments, 512, 256, 32)}, **more)


def small_stream(arguments, name="stream", **more):
    """For small_gpu."""
    parameters = {"n": size(arguments, 4194304, 65536, 16384), "rounds": size(arguments, 16, 4, 2),
                  "blocks": size(arguments, 160, 8, 8)}
    return machines.tenant(name, "stream.yaml", parameters, **more)


def stream(arguments, name="stream", **more):
    parameters = {"n": size(arguments, 4194304, 1048576, 16384), "rounds": size(arguments, 16, 6, 2),
                  "blocks": size(arguments, 160, 160, 8)}
    return machines.tenant(name, "stream.yaml", parameters, **more)


def copying(arguments, name="copying", **more):
    return machines.tenant(name, "saxpy", {"n": size(arguments, 4194304, 524288, 16384)}, **more)


def paging(arguments, name="paging", **more):
    parameters = {"n": size(arguments, 1048576, 131072, 16384), "passes": 1}
    return machines.tenant(name, "passes.yaml", parameters, **more)


def graph(arguments, name="graph", **more):
    vertices = size(arguments, 65536, 8192, 256)
    return machines.tenant(name, "bfs", {"vertices": vertices, "edges": 8 * vertices}, **more)
