"""GPU memory that is full, of whatever size, under every combination of policies: the run ends, or one line says why
it cannot, and all bytes are right."""
import itertools
import os
import random
import shutil
import unittest

from harness import ROOT, ScenarioTest, todays

# Managed, prefetched and device memory, of which a part is freed; both directions, twice.
WORKLOAD = """\
module: managed_add.ptx
parameters: {n: 65536, block: 256, blocks: 8}
buffers:
  x: {type: f32, count: n, memory: managed, init: {value: 1}}
  d: {type: f32, count: floor(n / 3) + 1, memory: device}
  y: {type: f32, count: n, memory: managed, init: {value: 2}}
program:
  - copy: {buffer: d, to: device}
  - prefetch: {buffer: x, to: gpu}
  - launch: {kernel: managed_add, grid: [blocks], block: [block], arguments: [n, x, y]}
  - read: {buffer: x, offset: 10, count: 500}
  - launch: {kernel: managed_add, grid: [blocks], block: [block], arguments: [n, y, x]}
  - synchronize
  - launch: {kernel: managed_add, grid: [2], block: [block], arguments: [floor(n / 3), d, x]}
  - free: {buffer: d, offset: 0, count: floor(n / 6)}
  - synchronize
  - read: y
"""

LARGE = 2 << 20
MANAGERS = ("base-pages", "large-pages", "mixed-pages", "mosaic")
EVICTIONS = ("none", "random", "lru", "lfu", "sequential-local", "tree")
PREFETCHERS = ("none", "random", "sequential-local", "tree", "zheng-local512k", "zheng-seq")
COSTS = "cost_model: tanasic, migrate: 3us, allocate: 2us, cpu_service: 500ns"
HOST = f"{{name: host, {COSTS}}}"
LOCAL = f"{{name: local, handler: 1us, pool: 2, {COSTS}}}"
SCHEMES = ("operand-log", "replay-queue", "warp-disable-last-check", "warp-disable-commit")


def capacity(choose, manager):
    """Bytes: an odd multiple of what partitions or pages divide memory into."""
    unit = LARGE if manager in ("large-pages", "mosaic") else choose.choice((8 << 10, 64 << 10, LARGE))
    return unit * choose.randrange(1, {8 << 10: 350, 64 << 10: 41, LARGE: 6}[unit])


def machine(choose, manager, size, has_core):
    """Keys under `override:`."""
    keys = [f"gpu.memory.capacity: {size >> 10}KiB"]
    if has_core:
        keys += ["gpu.cpu.cores: 1", "gpu.memory.dram.write_queue: 0", "gpu.memory.dram.gpu_queue: 16"]
    if manager == "mosaic" or choose.random() < 0.3:
        keys.append("gpu.noc.mapping: frame")
    if choose.random() < 0.3:
        keys.append("gpu.vm.fault_granule: 4KiB")
    if choose.random() < 0.2:
        index, occupancy = choose.choice((0.1, 0.5, 1.0)), choose.choice((0.1, 0.5, 0.9))
        keys.append(f"gpu.memory.fragmentation: {{index: {index}, occupancy: {occupancy}}}")
    if choose.random() < 0.2:
        keys.append("gpu.vm.device_pages: " + choose.choice(("large", "fitting")))
    return ", ".join(keys)


def policies(choose, manager, eviction, prefetcher, shares):
    """Lines under `policies:`."""
    local = manager not in ("large-pages", "mosaic") and choose.random() < 0.5
    lines = [f"page_manager: {manager}", f"eviction: {eviction}", f"prefetcher: {prefetcher}",
             f"fault_handling: {LOCAL if local else choose.choice((HOST, '{name: host}'))}"]
    if local or (manager != "mosaic" and choose.random() < 0.3):
        lines.append("exception_scheme: " + choose.choice(SCHEMES))
        if choose.random() < 0.5:
            lines.append("block_switching: {name: on-fault, threshold: 0, extra_blocks: 2}")
    if shares:
        lines.append("sharing: spatial")
    return "".join(f"  {line}\n" for line in lines)


def scenario(seed, manager, eviction, prefetcher):
    choose = random.Random(seed)
    size = capacity(choose, manager)
    has_core, has_second = choose.random() < 0.4, choose.random() < 0.3
    n = min(max(1000, int(size * choose.choice((0.5, 0.9, 1.2, 2, 4)) / 8)), 150_000) + choose.randrange(1000)
    tenants = [f"name: a, workload: w, parameters: {{n: {n}, blocks: {choose.choice((2, 8))}}}"]
    if has_second:
        tenants.append(f"name: b, workload: w, parameters: {{n: {n // 3 + 7}, blocks: 4}}, arrival: 20us")
    if has_core:
        memory = choose.choice((4, 12, 64, 68, 100, 260, 516))
        tenants.append(f"name: c, cpu: {{profile: mcf, memory: {memory}KiB}}, instructions: 5000")
    return (f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "simulation: {epoch: 50us, stop_at: 6ms}\n"
            f"override: {{{machine(choose, manager, size, has_core)}}}\n"
            f"policies:\n{policies(choose, manager, eviction, prefetcher, has_core or has_second)}"
            "tenants:\n" + "".join(f"  - {{{tenant}}}\n" for tenant in tenants))


class FullMemory(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("w.yaml", WORKLOAD)
        shutil.copy(ROOT / "configs/workloads/managed_add.ptx", self.folder)

    def assert_sound(self, text):
        """The run ends, is cut off, or is refused in one line; nothing that ended has wrong bytes."""
        self.write("s.yaml", text)
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertIn(run.returncode, (0, 1, 3), text + run.stderr)
        self.assertNotIn("internal error", run.stderr, text)
        self.assertNotIn("stalled", run.stderr, text)
        if run.returncode == 3:
            for line in run.stderr.splitlines():
                if line.startswith("check of"):
                    self.assertRegex(line, "had not finished|ended before its tenants", text)
        return run.returncode

    def test_every_combination(self):
        first = int(os.environ.get("FULL_MEMORY_SEED", 1))
        ends = [self.assert_sound(scenario(first + number, *names))
                for number, names in todays(enumerate(itertools.product(MANAGERS, EVICTIONS, PREFETCHERS)), 3)]
        self.assertGreater(ends.count(0), len(ends) // 3)

    def test_mosaic_beside_a_core_with_little_memory(self):
        self.write("s.yaml", (
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "override: {gpu.noc.mapping: frame, gpu.memory.capacity: 10MiB, gpu.cpu.cores: 1,\n"
            "  gpu.memory.dram.write_queue: 0, gpu.memory.dram.gpu_queue: 16}\n"
            "policies: {sharing: spatial, page_manager: mosaic}\n"
            "tenants:\n  - {name: a, workload: w, parameters: {n: 500000}}\n"
            "  - {name: c, cpu: {profile: mcf, memory: 64KiB}, instructions: 5000}\n"))
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
