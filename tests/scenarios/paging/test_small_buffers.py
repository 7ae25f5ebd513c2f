"""Small buffers of device memory that share a page of 2 MiB (vm.device_pages: shared)."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

# where(a, b, out): out[0] = b - a.   fill(a, n): thread t stores t + 1 to a[t], t < n.
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry where(.param .u64 a, .param .u64 b, .param .u64 out)
{
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [out];
  sub.u64 %rd4, %rd2, %rd1;
  st.global.u64 [%rd3], %rd4;
  ret;
}
.visible .entry fill(.param .u64 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 ret;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u32 %r6, %r5, 1;
  st.global.u32 [%rd3], %r6;
  ret;
}
"""
FILL = "  - launch: {{kernel: fill, grid: [{blocks}], block: [256], arguments: [{buffer}, {n}]}}\n"
GPU = f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"


def fill(buffer, n):
    return FILL.format(buffer=buffer, n=n, blocks=(n + 255) // 256)


class SmallBuffers(ScenarioTest):
    def tenant(self, name, buffers, program, type_of="u32"):
        self.write("k.ptx", PTX)
        lines = "".join(f"  {buffer}: {{type: {type_of}, count: {count}, memory: device}}\n"
                        for buffer, count in buffers.items())
        self.write(f"{name}.yaml", f"module: k.ptx\nbuffers:\n{lines}program:\n{program}")

    def run_with(self, pages, *arguments, capacity="64MiB", tenants=("one",), **how):
        later = ["", ", arrival: 200us"]
        self.write("s.yaml", GPU + f"override: {{gpu.memory.capacity: {capacity}, gpu.vm.device_pages: {pages}}}\n"
                   "tenants:\n" + "".join(f"  - {{name: {name}, workload: {name}.yaml{later[i]}}}\n"
                                          for i, name in enumerate(tenants)))
        return self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", *arguments, **how)

    def apart(self, pages, count):
        """How far behind a buffer of so many words the next one begins."""
        self.tenant("one", {"a": count, "b": 1, "out": 1}, """\
  - launch: {kernel: where, grid: [1], block: [1], arguments: [a, b, out]}
  - copy: {buffer: out, to: host}
  - save: out
""", "u64")
        run = self.run_with(pages)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with h5py.File(self.folder / "o.h5") as file:
            return int(file["buffers/one/out"][0])

    def test_they_lie_next_to_each_other_up_to_1_mib(self):
        self.assertEqual(self.apart("shared", 3), 512)
        self.assertEqual(self.apart("shared", 65), 1024)
        self.assertEqual(self.apart("shared", 131072), 1 << 20)
        self.assertEqual(self.apart("shared", 131073), 4 << 20, "its own page, a guard, and the page of the small ones")
        self.assertEqual(self.apart("large", 3), 4 << 20)

    def test_they_need_one_page_of_memory(self):
        names = "abcdefgh"
        self.tenant("one", dict.fromkeys(names, 1000), "".join(fill(name, 1000) for name in names))
        self.assertEqual(self.run_with("shared", "--check", capacity="6MiB").returncode, 0)
        run = self.run_with("large", capacity="6MiB")
        self.assertEqual(run.returncode, 1)
        self.assertIn("out of GPU memory", run.stderr)

    def test_the_page_comes_free_with_the_last_of_them(self):
        """Memory has room for one such page, and the second tenant comes after the frees."""
        self.tenant("two", {"a": 1000}, fill("a", 1000))
        for frees, status in ((["a", "b"], 0), (["a"], 1)):
            program = fill("a", 1000) + fill("b", 1000) + "  - synchronize\n"
            program += "".join(f"  - free: {name}\n" for name in frees) + "  - delay: 400us\n"
            self.tenant("one", {"a": 1000, "b": 1000}, program)
            run = self.run_with("shared", "--check", capacity="4MiB", tenants=("one", "two"))
            self.assertEqual(run.returncode, status, run.stderr)
            if status == 1:
                self.assertIn("two.yaml:3:6: out of GPU memory: tenant two", run.stderr)

    def test_each_ends_with_its_last_byte(self):
        self.tenant("one", {"a": 1000, "b": 1000}, fill("a", 1001) + fill("b", 1000))
        run = self.run_with("shared", "--check", "--no-bounds")
        self.assertEqual(run.returncode, 3)
        self.assertIn("out-of-bounds", run.stderr)

    def test_any_layout_the_same_bits(self):
        program = fill("a", 5000) + "  - free: a\n" + fill("b", 3000) + "  - copy: {buffer: b, to: host}\n  - save: b\n"
        self.tenant("one", {"a": 5000, "b": 3000, "c": 400000}, program)
        self.tenant("two", {"a": 700, "b": 3000}, program.replace("5000", "700"))
        self.assertEqual(self.run_with("shared", "--check", tenants=("one", "two")).returncode, 0)
        (self.folder / "o.h5").rename(self.folder / "first.h5")
        for threads, ranks in ((1, 0), (2, 0), (1, 2), (1, 3)):
            with self.subTest(threads=threads, ranks=ranks):
                run = self.run_with("shared", "--check", "--threads", threads, tenants=("one", "two"), ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                difference = self.lockstep("diff", "first.h5", "o.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)


if __name__ == "__main__":
    unittest.main()
