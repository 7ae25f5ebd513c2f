"""Every mistake gets one line - what, where, what to do - and an exit status that is not zero."""
import os
import time
import unittest

import h5py

from one_kernel import HOST, TINY, OneKernel


class Errors(OneKernel):
    def assert_refused(self, parts, *arguments, ranks=0, status=1, **more):
        """One line on stderr, beginning with the program's name and holding all of `parts`."""
        run = self.lockstep("run", "s.yaml", "--quiet", *arguments, ranks=ranks, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        lines = [line for line in run.stderr.splitlines() if line.strip()]
        if ranks:  # mpirun adds its own
            lines = [line for line in lines if line.startswith("lockstep: ")]
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertTrue(lines[0].startswith("lockstep: "), run.stderr)
        for part in parts:
            self.assertIn(part, lines[0])
        return lines[0]

    def test_policies_against_interference_that_do_not_go_together(self):
        for policies, parts in (
                ("{dram_scheduler: medic}", ("which warps hit mostly", "cache_policy lru", "bypass: false")),
                ("{dram_scheduler: mask}", ("whose warps wait for page walks", "tlb_fill lru", "tokens: false")),
                ("{tlb_fill: mask, translation: ideal}", ("second-level TLB", "translation ideal", "shared-tlb")),
                ("{cache_policy: eaf, replacement: random}",
                 ("policies.cache_policy eaf", "policies.replacement random has no order of lines", "srrip")),
                ("{cache_policy: {name: medic, order: stack}, replacement: random}", ("order: stack", "lru, srrip")),
                ("{cache_policy: {name: medic, mostly_miss: 70}}", ("mostly_miss is not below mostly_hit", "raise")),
                ("{cache_policy: {name: medic, bypass: false, reuse: true}}", ("reuse takes back bypasses", "bypass")),
                ("{cache_policy: {name: medic, while_profiled: neutral}}", ("while_profiled", "neutral", "plain")),
                ("{tlb_fill: {name: mask, initial_tokens: 1.2}}", ("initial_tokens", "1.2")),
                ("{dram_scheduler: [medic, mask]}", ("policies.dram_scheduler", "a list, not a single value")),
                ("{dram_scheduler: {name: sms, p: 1.5}}", ("policies.dram_scheduler.p", "1.5", "from 0 to 1")),
                ("{dram_scheduler: {name: sms, gpu_fifo: 0}}", ("gpu_fifo", "0 is out of range", "from 1")),
                ("{dram_scheduler: medic-mask, tlb_fill: mask}", ("which warps hit mostly", "medic-mask")),
                ("{dram_scheduler: medic-mask, cache_policy: medic}", ("whose warps wait for page walks",)),
                ("{page_manager: mosaic}", ("within their memory channel", "noc.mapping: frame"))):
            with self.subTest(policies):
                self.scenario_file(f"policies: {policies}\n")
                line = self.assert_refused(parts)
                self.assertIn("s.yaml:5:", line)

    def test_the_correct_run_passes(self):
        run = self.lockstep("run", "s.yaml", "--quiet", "--check")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    # The scenario file.

    def test_unknown_key_in_a_gpu(self):
        self.write("gpu.yaml", TINY.read_text().replace("  request_latency:", "  request_latancy:"))
        self.scenario_file(gpu="gpu.yaml")
        self.assert_refused(["gpu.yaml:", ":3:", "request_latancy", 'did you mean "request_latency"'])

    def test_unknown_key_in_a_scenario(self):
        self.scenario_file(more="simulaton: {epoch: 10us}\n")
        self.assert_refused(["s.yaml:5:1", "simulaton", 'did you mean "simulation"'])

    def test_unknown_key_in_place_of_a_required_one(self):
        text = (self.folder / "s.yaml").read_text()
        self.write("s.yaml", text.replace("gpu:", "gpq:", 1))
        self.assert_refused(["s.yaml:1:1", "gpq", 'did you mean "gpu"'])

    def test_missing_key(self):
        text = (self.folder / "s.yaml").read_text()
        self.write("s.yaml", text.split("\n", 1)[1])
        self.assert_refused(["s.yaml:1:1", '"gpu" is missing'])

    def test_unknown_key_in_a_tenant(self):
        self.write("s.yaml", f"gpu: {TINY}\nhost: {HOST}\ntenants:\n"
                   "  - {name: one, workload: w.yaml, prioriti: 1}\n")
        self.assert_refused(["s.yaml:4:", "prioriti", "priority"])

    def test_unknown_key_in_a_workload(self):
        self.workload("memory: device", "memorie: device")
        self.assert_refused(["w.yaml:4:", "memorie", "memory"])

    def test_unknown_step_in_a_workload(self):
        self.workload("- copy:", "- coppy:")
        self.assert_refused(["w.yaml:7:", "coppy"])

    def test_unknown_policy(self):
        self.scenario_file(more="policies: {warp_scheduler: gtoo}\n")
        self.assert_refused(["s.yaml:5:", "gtoo", "gto"])

    def test_a_dram_scheduler_that_the_memory_does_not_suit(self):
        self.scenario_file(more="policies: {dram_scheduler: sms}\n")
        self.assert_refused(["s.yaml:5:", "gpu.memory.dram.write_queue"])
        self.scenario_file(more="policies: {dram_scheduler: sms}\n"
                           "override: {gpu.memory.dram.write_queue: 0}\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_places_for_the_gpu_that_the_dram_queue_does_not_have(self):
        self.scenario_file(more="override: {gpu.memory.dram.gpu_queue: 4000}\n")
        self.assert_refused(["gpu_queue is larger than the whole queue", "lower it"])

    def test_a_path_past_the_l2_that_leads_nowhere(self):
        self.scenario_file(more="override: {gpu.memory.l2.bypass_path: own}\n")
        self.assert_refused(["s.yaml:5:", "bypass_path: own has no queue to lead to", "set bypass_queue"])

    def test_wrong_unit(self):
        self.scenario_file(more="simulation: {epoch: 10MHz}\n")
        self.assert_refused(["s.yaml:5:", "10MHz"])

    def test_value_out_of_range(self):
        self.scenario_file(more="override: {gpu.sm.warps: 65}\n")
        self.assert_refused(["s.yaml:5:", "warps", "65"])

    def test_broken_yaml(self):
        self.write("s.yaml", "gpu: [1, 2\nhost: 3\n")
        self.assert_refused(["s.yaml:"])

    def test_missing_scenario(self):
        run = self.lockstep("run", "nothing.yaml")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertIn('lockstep: cannot read "nothing.yaml"', run.stderr)

    def test_key_with_control_characters(self):
        self.scenario_file(more='"a\\nb\\e[31m": 3\n')
        self.assert_refused(["s.yaml:", 'unknown key "a\\x0ab\\x1b[31m"'])

    def test_names_that_fit_nowhere(self):
        for old, new, part in (
                ("  out:", "  a/b:", '"a/b" cannot be a name'),
                ("parameters: {n", "parameters: {a b: 1, n", '"a b" cannot stand in formulas')):
            with self.subTest(new=new):
                self.workload(old, new)
                self.assert_refused(["w.yaml:", part])

    def test_aliases_without_end(self):
        levels = ["a0: &a0 [1]"] + [
            f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 12)]
        self.write("s.yaml", "\n".join(levels) + "\n")
        self.assert_refused(["s.yaml:", "more than a million copies"])

    def test_settings_may_stand_before_the_scenario(self):
        run = self.lockstep("validate", "--set", "gpu.sm.count=2", "s.yaml")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_pipes_and_devices_are_no_inputs(self):
        os.mkfifo(self.folder / "pipe")
        for name, parts in (("pipe", ["pipe", "it is a pipe or device"]), ("/dev/zero", ["/dev/zero", "device"])):
            with self.subTest(name=name):
                run = self.lockstep("run", name)
                self.assertEqual(run.returncode, 1)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                for part in parts:
                    self.assertIn(part, run.stderr)
                self.scenario_file(gpu=name)
                self.assert_refused(["s.yaml:1:6", *parts])
                self.scenario_file()
                self.assert_refused([name, "pipe or device"], "--weights", name)
                self.assert_refused([name, "--output"], "--output", name)
                for command in ("watch", "report", "predict"):
                    run = self.lockstep(command, name)
                    self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
                    self.assertIn("pipe or device", run.stderr)

    def test_a_map_with_very_many_keys(self):
        self.scenario_file(more="override: {" + ", ".join(f"k{i}: 1" for i in range(200_000)) + "}\n")
        begin = time.monotonic()
        self.assert_refused(["s.yaml:5:", "a map of more than 10000 keys"])
        self.assertLess(time.monotonic() - begin, 20)

    def test_missing_workload(self):
        (self.folder / "w.yaml").unlink()
        self.assert_refused(["s.yaml:4:", "w.yaml", "No such file"])

    def test_missing_module(self):
        (self.folder / "k.ptx").unlink()
        self.assert_refused(["w.yaml:1:9", "k.ptx", "No such file"])

    def test_missing_initial_content(self):
        self.workload("memory: device", "memory: device, init: {file: data.bin}")
        self.assert_refused(["w.yaml:4:", "data.bin"])

    def test_unknown_setting(self):
        self.assert_refused(["--set gpu.sm.cuont=3", 'did you mean "count"'],
                            "--set", "gpu.sm.cuont=3")

    def test_l1_that_does_not_divide_into_sets(self):
        for settings, parts in (
                (("gpu.sm.l1.unified_bytes=0B", "gpu.sm.l1.bytes=10KiB", "gpu.sm.l1.sets=64"),
                 ["gpu.sm.l1", "bytes (10240)", "multiple", "8192"]),
                (("gpu.sm.l1.unified_bytes=97KiB", "gpu.sm.shared.carve_outs=[96KiB]", "gpu.sm.l1.sets=64"),
                 ["carve-out of 98304 bytes (1024)", "multiple"])):
            with self.subTest(settings=settings):
                self.assert_refused(parts, *(a for s in settings for a in ("--set", s)))

    # Kernels and launches.

    def test_kernel_that_the_module_lacks(self):
        self.workload("kernel: k,", "kernel: kk,")
        self.assert_refused(["w.yaml:6:", "kk", 'did you mean "k"'])

    def test_wrong_number_of_arguments(self):
        self.workload("[out, n]", "[out]")
        self.assert_refused(["w.yaml:6:", "argument", "1", "2"])

    def test_unknown_argument(self):
        self.workload("[out, n]", "[out, m]")
        self.assert_refused(["w.yaml:6:", '"m"'])

    def test_block_larger_than_an_sm(self):
        self.workload("block: 64", "block: 256")
        self.assert_refused(["w.yaml:6:", "256 threads", "128"],
                            "--set", "gpu.sm.threads=128", "--set", "gpu.sm.warps=4")

    def test_block_larger_than_any(self):
        self.workload("block: 64", "block: 2048")
        self.assert_refused(["w.yaml:6:", "2048", "1024"])

    def test_grid_wide_barrier_of_more_blocks_than_fit(self):
        self.kernel("ret;", "mov.u32 %r1, %envreg1;\nst.global.u32 [%rd1], %r1;\nret;")
        self.workload("grid: [1]", "grid: [1000]")
        self.assert_refused(["w.yaml:", "kernel k", "grid-wide barrier", "of 1000 blocks"])

    def test_more_shared_memory_than_an_sm_has(self):
        self.workload("arguments: [out, n]", "arguments: [out, n], shared: 200000")
        self.assert_refused(["w.yaml:6:", "shared"])

    def test_unsupported_instruction(self):
        self.kernel("  ret;", "  wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];\n  ret;")
        self.assert_refused(["k.ptx:15:", "wmma"])

    def test_malformed_instruction(self):
        self.kernel("mul.lo.u32 %r3, %r2, %r1;", "mul.lo.u32 %r3, %r2 %r1;")
        self.assert_refused(["k.ptx:11:"])

    def test_undeclared_register(self):
        self.kernel("mov.u32 %r2", "mov.u32 %r99")
        self.assert_refused(["k.ptx:10:", "%r99"])

    def test_unclosed_kernel(self):
        self.kernel("}", "")
        self.assert_refused(["k.ptx:"])

    # What kernels do.

    def test_out_of_bounds_on_the_machine(self):
        line = self.assert_refused(
            ["k.ptx:14", "tenant one", "kernel k", "block (0, 0, 0)", "store to 0x"],
            "--set", "tenants.0.parameters.n=1000")
        self.assertIn("thread (", line)

    def test_out_of_bounds_on_another_rank(self):
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                self.assert_refused(
                    ["k.ptx:14", "tenant one", "kernel k", "store to 0x"],
                    "--set", "tenants.0.parameters.n=1000", ranks=ranks)

    def test_out_of_bounds_by_a_byte_in_the_interpreter(self):
        self.workload("count: 1000", "count: 63")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--no-bounds")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertRegex(run.stderr, r"^check failed: tenant one: k.ptx:14: kernel k, "
                                     r"block \(0, 0, 0\), thread \(63, 0, 0\): .* at 0x.*\n$")

    def test_misaligned_access(self):
        self.kernel(shift=2)
        self.assert_refused(
            ["k.ptx:14", "tenant one", "kernel k", "thread (", "misaligned", "0x"])

    def test_use_after_free(self):
        self.workload("program:\n", "program:\n  - free: out\n")
        self.assert_refused(["w.yaml:7:", "out", "free"])

    # Sizes.

    def test_host_loop_that_never_ends(self):
        self.workload(
            "  - copy: {buffer: out, to: host}",
            "  - repeat: {until: {buffer: out, index: 0, equals: 9}, "
            "program: [{fill: {buffer: out, value: 1}}]}",
        )
        self.assert_refused(["w.yaml:", "tenant one", "no simulated time", "never ends"])

    def test_buffer_size_divided_to_zero(self):
        self.workload("count: count,", "count: count / 2000,")
        self.assert_refused(["w.yaml:4:", "count / 2000"])

    def test_division_by_zero(self):
        self.workload("count: count,", "count: count / (n - 1),")
        self.assert_refused(["w.yaml:4:"])

    def test_out_of_gpu_memory(self):
        self.assert_refused(["w.yaml:4:", "out of GPU memory", "out", "gpu.memory.capacity"],
                            "--set", "gpu.memory.capacity=1MiB",
                            "--set", "tenants.0.parameters.count=1000000")

    def test_memory_that_partitions_cannot_share(self):
        self.assert_refused(["--set gpu.memory.capacity=64KiB:", "gpu.memory.capacity: capacity", "multiple",
                             " - make it one of 12 KiB"],
                            "--set", "gpu.memory.partitions=3",
                            "--set", "gpu.memory.capacity=64KiB")

    def test_more_ranks_than_components(self):
        self.assert_refused(["ranks (10)", "components (9)"], ranks=10)

    # The output.

    def test_output_in_a_folder_that_cannot_be_made(self):
        self.assert_refused(["s.yaml/o.h5", "Not a directory"], "--output", "s.yaml/o.h5")

    def test_output_that_is_a_folder(self):
        (self.folder / "o.h5").mkdir()
        self.assert_refused(["o.h5", "--output"], "--output", "o.h5")

    def test_output_that_would_overwrite_an_input(self):
        for name in ("s.yaml", "w.yaml", "k.ptx"):
            before = (self.folder / name).read_text()
            self.assert_refused([name, "output", "--output"], "--output", name)
            self.assertEqual((self.folder / name).read_text(), before)

    def test_output_that_would_overwrite_data(self):
        with h5py.File(self.folder / "data.h5", "w") as data:
            data["numbers"] = list(range(1000))
        self.assert_refused(["data.h5", "is no output of lockstep"], "--output", "data.h5")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "first.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.workload("memory: device", "memory: device, init: {file: {name: first.h5, data_set: /x}}")
        self.assert_refused(["first.h5", "initial content of buffer out", "--output"],
                            "--output", "first.h5")

    def test_output_without_a_name(self):
        run = self.lockstep("run", "s.yaml", "--output", "")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--output: is empty", run.stderr)

    def test_output_in_a_folder_that_cannot_be_made_with_ranks(self):
        self.assert_refused(["s.yaml/o.h5"], "--output", "s.yaml/o.h5", ranks=2)


if __name__ == "__main__":
    unittest.main()
