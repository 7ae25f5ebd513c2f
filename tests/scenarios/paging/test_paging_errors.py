"""Mistakes with paged memory: one line that says where, and the other tenants end as they would."""
import itertools
import unittest

import h5py

from beside_others import BesideOthers
from harness import ROOT
from paging_kernels import PTX

# Other streams are busy, too, when the thread goes wrong.
REACHING = """\
module: k.ptx
parameters: {blocks: 8, block: 64, stride: 256, guilty: 300, wild: 64}
buffers:
  data: {type: u32, count: blocks * block * stride, memory: managed}
  ahead: {type: u32, count: 16384, memory: managed, init: {value: 1}}
  own: {type: u32, count: 4096, memory: device}
program:
  - launch: {kernel: reach, grid: [blocks], block: [block], arguments: [data, stride, guilty, wild]}
  - prefetch: {buffer: ahead, to: gpu, stream: 1}
  - copy: {buffer: own, to: device, stream: 2}
  - launch: {kernel: reach, grid: [blocks], block: [block], arguments: [data, stride, 100000, wild]}
  - synchronize
  - read: data
"""

FOLLOWING = """\
module: k.ptx
buffers:
  data: {type: u32, count: 1024, memory: KIND}
  place: {type: u64, count: 1, memory: managed}
program:
  - launch: {kernel: keep, grid: [1], block: [1], arguments: [data, place]}
  - synchronize
  - free: data
  - launch: {kernel: follow, grid: [1], block: [1], arguments: [place]}
"""

# The last four of 64 threads store behind the buffer, in its last page.
BEHIND = """\
module: k.ptx
buffers:
  data: {type: u32, count: 60, memory: managed}
program:
  - launch: {kernel: reach, grid: [1], block: [64], arguments: [data, 1, 100, 64]}
"""

# Stores to every page and reads it back, round after round, in a buffer larger than the memory.
REUSING = """\
module: k.ptx
parameters: {factor: 3}
buffers:
  data: {type: u32, count: 40 * 1024, memory: managed, init: {linear: {start: 1, step: factor}}}
  sums: {type: u32, count: 32, memory: managed}
program:
  - repeat:
      times: 3
      program:
        - launch: {kernel: gather, grid: [1], block: [32], arguments: [data, 40, sums]}
        - launch: {kernel: reach, grid: [1], block: [40], arguments: [data, 1024, 100, 64]}
"""

PREFETCHING = """\
module: k.ptx
parameters: {offset: 0, count: 1024}
buffers:
  data: {type: u32, count: 1024, memory: managed}
program:
  - prefetch: {buffer: data, to: gpu, offset: offset, count: count}
"""

# Part of a device buffer goes before it is used.
FREEING = """\
module: k.ptx
parameters: {offset: 0}
buffers:
  data: {type: u32, count: 3072, memory: device}
program:
  - free: {buffer: data, offset: offset, count: 1024}
  - copy: {buffer: data, to: device}
"""

# A device buffer that can leave no page for the managed one.
FILLING = """\
module: k.ptx
parameters: {pages: 200}
buffers:
  own: {type: u32, count: pages * 1024, memory: device}
  data: {type: u32, count: 1024, memory: managed}
program:
  - launch: {kernel: reach, grid: [1], block: [1], arguments: [data, 1, 9, 64]}
"""


class PagingErrors(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)

    def assert_refused(self, parts, *settings):
        """The run does not begin, or cannot go on."""
        line = self.run_with(*settings)[1]
        for part in parts:
            self.assertIn(part, line)

    # Accesses.

    def test_wild_addresses(self):
        self.beside_others(REACHING)
        for wild in (64, 1 << 21, 1 << 40, (1 << 47) - 4096):
            with self.subTest(wild=wild):
                self.assert_ended(
                    ["k.ptx:22", "kernel reach", "block (4, 0, 0)", "thread (44, 0, 0)",
                     f"store to {wild:#x}", "outside of every buffer"],
                    f"tenants.0.parameters.wild={wild}")

    def test_without_bounds_an_access_behind_a_buffer_within_its_page_fails_the_check(self):
        self.beside_others(BEHIND)
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--no-bounds", "--output", "o.h5")
        self.assertEqual(run.returncode, 3, run.stderr)
        output = run.stdout + run.stderr
        self.assertRegex(output, r"check failed: tenant one: k.ptx:22: kernel reach, "
                                 r"block \(0, 0, 0\), thread \(60, 0, 0\): out-of-bounds")
        self.assertEqual(output.count("check passed"), 2, output)
        with h5py.File(self.folder / "o.h5") as file:
            self.assertIn("wall_seconds", file["run"].attrs)

    def test_frames_of_another_tenant_whose_lines_are_still_in_an_l1(self):
        """One SM, three tenants in turn, and memory for a fraction of their pages: a frame serves
        them all, and the L1 holds lines of it when it changes hands."""
        self.write("w.yaml", REUSING)
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "override: {gpu.sm.count: 1, gpu.memory.capacity: 160KiB}\n"
            "policies:\n  sharing: exclusive\n  prefetcher: none\n"
            "  eviction: {name: lru, granularity: page}\n"
            "  fault_handling: {name: host, cost_model: tanasic}\ntenants:\n"
            + "".join(f"  - {{name: t{v}, workload: w.yaml, parameters: {{factor: {v}}}}}\n"
                      for v in (3, 4, 5)))
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            for evicted in file["final/stats/host/pages_evicted"][0]:
                self.assertGreater(evicted, 50)
        self.assert_layouts_agree("--check")

    def test_addresses_of_another_tenant(self):
        # The others' buffers begin where this one's do; theirs reach further.
        self.beside_others(REACHING)
        self.assert_ended(["k.ptx:22", "outside of every buffer"],
                          "tenants.0.parameters.stride=1",
                          f"tenants.0.parameters.wild={(1 << 32) + (1 << 20)}",
                          "tenants.1.parameters.n=524288")

    def test_an_access_behind_the_end(self):
        self.beside_others(REACHING.replace("blocks * block * stride", "block * stride"))
        self.assert_ended(["k.ptx:22", "outside of every buffer"],
                          "tenants.0.parameters.guilty=100000")

    def test_with_every_scheme_a_block_that_left_because_of_a_wild_address_finds_that_out(self):
        """What was squashed does so when it is issued again; seven of eight blocks take places from each other."""
        for scheme in ("warp-disable-commit", "warp-disable-last-check", "replay-queue", "operand-log"):
            for switching in ("none", "{name: on-fault, threshold: 0}"):
                with self.subTest(scheme=scheme, switching=switching):
                    policies = (f"policies.exception_scheme={scheme}", f"policies.block_switching={switching}")
                    self.beside_others(REACHING)
                    self.assert_ended(["k.ptx:22", "kernel reach", "block (4, 0, 0)", "thread (44, 0, 0)",
                                       "store to 0x40", "outside of every buffer"], *policies)
                    self.beside_others(REACHING.replace("blocks * block * stride", "block * stride"))
                    self.assert_ended(["k.ptx:22", "outside of every buffer"], *policies, "gpu.sm.blocks=1",
                                      "tenants.0.parameters.guilty=100000")

    def test_where_every_block_goes_wrong_and_they_displace_each_other_the_run_ends(self):
        """Its tenant ends while blocks stand in memory for which others were to be displaced."""
        self.write("w.yaml", REACHING.replace("blocks: 8", "blocks: 32").replace("blocks * block * stride", "1024"))
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            "policies: {fault_handling: {name: host, cost_model: tanasic}, prefetcher: none}\n"
            "tenants:\n  - {name: one, workload: w.yaml, parameters: {stride: 1024, guilty: 100000}}\n")
        for scheme, blocks, wait in (("operand-log", 1, "1us"), ("replay-queue", 2, "10us")):
            with self.subTest(scheme=scheme):
                run = self.lockstep(
                    "run", "s.yaml", "--quiet", "--output", f"{scheme}.h5", "--set", f"gpu.sm.blocks={blocks}",
                    "--set", f"policies.exception_scheme={scheme}",
                    "--set", f"policies.block_switching={{name: on-fault, extra_blocks: 1, max_wait: {wait}}}")
                self.assertNotEqual(run.returncode, 0)
                self.assertRegex(run.stderr, r"k.ptx:22: tenant one, kernel reach, .* outside of every buffer")

    def test_freed_memory(self):
        for kind in ("managed", "device"):
            with self.subTest(kind=kind):
                self.beside_others(FOLLOWING.replace("KIND", kind))
                self.assert_ended(["k.ptx:63", "kernel follow", "the buffer was freed"])

    def test_mistakes_while_pages_move(self):
        """Faults, migrations, evictions and replays are under way when a tenant is ended."""
        modes = itertools.product(("listed", "broadcast", "block-tlb"), (1, 2, 3), (0, 200, 511))
        for i, (replay, others, guilty) in enumerate(modes):
            with self.subTest(replay=replay, others=others, guilty=guilty):
                self.beside_others(REACHING, others)
                self.assert_ended(
                    ["k.ptx:22"],
                    f"policies.fault_handling.replay={replay}",
                    f"tenants.0.parameters.guilty={guilty}",
                    f"gpu.memory.capacity={('512KiB', '1MiB')[i % 2]}",
                    f"gpu.vm.walk_latency={(0, 100)[i % 2]}",
                    f"gpu.vm.shootdown={('entry', 'whole', 'none')[i % 3]}",
                    f"tenants.0.sms={4 - others}", others=others)

    # Sizes.

    def test_more_than_host_memory(self):
        self.beside_others(PREFETCHING)
        self.assert_refused(
            ["managed_add.yaml:5:", "host memory is full", "buffer x of tenant sum", "host.memory"],
            "host.memory=1MiB", "tenants.1.parameters.n=1000000")

    def test_capacity_that_does_not_divide_into_pages(self):
        self.beside_others(PREFETCHING)
        self.assert_refused(
            ["gpu.memory.capacity", "3145728", "2097152", "page_manager"],
            "policies.page_manager=large-pages", "gpu.memory.capacity=3MiB")
        self.assert_refused(
            ["gpu.memory.capacity", "3145728", "2097152", "page_manager"],
            "policies.page_manager={name: mosaic, compaction: none}", "gpu.memory.capacity=3MiB")

    def test_compaction_of_pages_that_lie_in_several_channels(self):
        self.beside_others(PREFETCHING)
        self.assert_refused(
            ["--set policies.page_manager", "within their memory channel", "noc.mapping: frame"],
            "policies.page_manager=mosaic", "gpu.noc.mapping=hashed")

    def test_stalled_sms_that_must_issue_what_they_squashed(self):
        self.beside_others(PREFETCHING)
        self.assert_refused(
            ["--set policies.page_manager", "stand still", "replay-queue", "stall: false"],
            "policies.page_manager={name: mosaic, compaction: none}",
            "policies.exception_scheme=replay-queue")

    def test_part_that_is_freed_lies_outside_of_its_buffer(self):
        self.beside_others(FREEING)
        self.assert_refused(["w.yaml:6:", "1024 elements from 3072 on", "outside of buffer data of tenant one"],
                            "tenants.0.parameters.offset=3072")

    def test_part_is_used_after_it_was_freed(self):
        self.beside_others(FREEING)
        self.assert_refused(["w.yaml:7:", "elements 1024 to 2047 of buffer data after they were freed"],
                            "tenants.0.parameters.offset=1024")

    def test_prefetch_outside_a_buffer(self):
        self.beside_others(PREFETCHING)
        self.assert_refused(["w.yaml:6:", "1024 elements from 1025 on", "outside of buffer data of tenant one"],
                            "tenants.0.parameters.offset=1025")
        self.assert_refused(["w.yaml:6:", "1024 elements from 1 on", "which has 1024"],
                            "tenants.0.parameters.offset=1")

    def test_nothing_to_evict(self):
        self.beside_others(FILLING, others=0)
        self.assert_refused(
            ["w.yaml:5:", "GPU memory is full", "page 0 of buffer data of tenant one",
             "gpu.memory.capacity"],
            "policies.page_manager=large-pages", "gpu.memory.capacity=4MiB",
            "tenants.0.parameters.pages=1")

    def test_full_without_eviction(self):
        self.beside_others(REACHING, others=0)
        self.assert_refused(
            ["w.yaml:4:", "GPU memory is full", "policies.eviction is none",
             "buffer data of tenant one", "gpu.memory.capacity", "choose an eviction policy"],
            "policies.eviction=none", "gpu.memory.capacity=256KiB",
            "tenants.0.parameters.guilty=100000")

    def test_device_buffers_find_no_room_beside_pages_that_are_not_evicted(self):
        self.write("w.yaml", FILLING)
        self.write("stays.yaml", REACHING.partition("  - prefetch")[0] + "  - delay: 10ms\n")
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "policies: {sharing: spatial}\ntenants:\n"
            "  - {name: one, workload: w.yaml, sms: 2, arrival: 5ms}\n"
            "  - {name: stays, workload: stays.yaml, sms: 2, parameters: {guilty: 100000}}\n")
        self.assert_ended(["w.yaml:4:", "out of GPU memory", "buffer own",
                           "policies.eviction is none", "choose an eviction policy"],
                          "policies.eviction=none", "gpu.memory.capacity=1280KiB", others=1)

    def test_gpu_memory_smaller_than_device_buffers_and_tables(self):
        self.beside_others(FILLING, others=0)
        self.assert_refused(
            ["w.yaml:4:", "out of GPU memory", "tenant one", "buffer own", "gpu.memory.capacity"],
            "gpu.memory.capacity=512KiB")

    def test_a_device_buffer_larger_than_gpu_memory_beside_others(self):
        self.beside_others(FILLING)
        self.assert_ended(["w.yaml:4:", "out of GPU memory", "buffer own"],
                          "gpu.memory.capacity=4MiB", "tenants.0.parameters.pages=1200")

    def test_gpu_memory_smaller_than_page_tables(self):
        self.beside_others(PREFETCHING, others=0)
        self.assert_refused(["s.yaml:", "out of GPU memory", "tenant one", "page tables"],
                            "gpu.memory.capacity=16KiB")

    # Parameters.

    def test_unknown_policies(self):
        self.beside_others(PREFETCHING)
        for point in ("prefetcher", "eviction", "translation", "tlb_fill", "page_manager",
                      "fault_handling"):
            with self.subTest(point=point):
                self.assert_refused([f"policies.{point}", '"nonsense"'],
                                    f"policies.{point}=nonsense")

    def test_wrong_values(self):
        self.beside_others(PREFETCHING)
        for key, value, part in (
                ("policies.fault_handling.replay", "all", "listed, broadcast, block-tlb"),
                ("policies.fault_handling.handling", "4KiB", "4KiB"),
                ("gpu.vm.walkers", "many", "whole number"),
                ("gpu.vm.walkers", "0", "from 1"),
                ("gpu.vm.shootdown", "page", "whole, entry, none"),
                ("gpu.vm.l2_tlb.entries", "1.5", "whole number"),
                ("gpu.vm.l1_tlb", "{ways: 3}", "no multiple of ways (3)"),
                ("simulation.record_faults", "maybe", "true or false")):
            with self.subTest(key=key, value=value):
                self.assert_refused([key, value, part], f"{key}={value}")


if __name__ == "__main__":
    unittest.main()
