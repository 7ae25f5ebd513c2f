"""malloc and free in kernels: what they give, and what bad use gets."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

PTX = """\
.version 7.8
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);

// blocks(out): each thread takes blocks, gives one back, takes another, and adds up what they hold.
.visible .entry blocks(.param .u64 out)
{
  .reg .b32 %r<12>;
  .reg .b64 %rd<16>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  cvt.u64.u32 %rd2, %r1;
  and.b64 %rd3, %rd2, 63;
  add.u64 %rd3, %rd3, 8;
  { .param .b64 n; .param .b64 r;
  st.param.b64 [n], %rd3;
  call (r), malloc, (n);
  ld.param.b64 %rd4, [r]; }
  st.u64 [%rd4], %rd2;
  { .param .b64 n; .param .b64 r;
  st.param.b64 [n], 8;
  call (r), malloc, (n);
  ld.param.b64 %rd5, [r]; }
  mul.lo.u64 %rd6, %rd2, 3;
  st.u64 [%rd5], %rd6;
  ld.u64 %rd7, [%rd4];
  { .param .b64 p;
  st.param.b64 [p], %rd4;
  call free, (p); }
  { .param .b64 n; .param .b64 r;
  st.param.b64 [n], 100;
  call (r), malloc, (n);
  ld.param.b64 %rd8, [r]; }
  st.u64 [%rd8+88], 7;
  ld.u64 %rd9, [%rd5];
  ld.u64 %rd10, [%rd8+88];
  add.u64 %rd9, %rd9, %rd7;
  add.u64 %rd9, %rd9, %rd10;
  or.b64 %rd11, %rd4, %rd5;
  or.b64 %rd11, %rd11, %rd8;
  and.b64 %rd11, %rd11, 15;
  add.u64 %rd9, %rd9, %rd11;
  { .param .b64 p;
  st.param.b64 [p], %rd5;
  call free, (p); }
  { .param .b64 p;
  st.param.b64 [p], %rd8;
  call free, (p); }
  mul.wide.u32 %rd12, %r1, 8;
  add.u64 %rd12, %rd1, %rd12;
  st.global.u64 [%rd12], %rd9;
  ret;
}

// fill(out): how many threads get a block of SIZE bytes.
.visible .entry fill(.param .u64 out)
{
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  { .param .b64 n; .param .b64 r;
  st.param.b64 [n], SIZE;
  call (r), malloc, (n);
  ld.param.b64 %rd2, [r]; }
  setp.ne.u64 %p1, %rd2, 0;
  @%p1 red.global.add.u64 [%rd1], 1;
  ret;
}

// wrong(out): frees a block BYTES behind its beginning, TIMES times.
.visible .entry wrong(.param .u64 out)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  { .param .b64 n; .param .b64 r;
  st.param.b64 [n], 40;
  call (r), malloc, (n);
  ld.param.b64 %rd2, [r]; }
  add.u64 %rd2, %rd2, BYTES;
  mov.u32 %r1, 0;
again:
  { .param .b64 p;
  st.param.b64 [p], %rd2;
  call free, (p); }
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, TIMES;
  @%p1 bra again;
  ret;
}
"""

WORKLOAD = """\
module: k.ptx
heap: HEAP
buffers:
  out: {type: u64, count: 256, memory: managed}
program:
  - launch: {kernel: KERNEL, grid: [GRID], block: [64], arguments: [out]}
  - synchronize
  - read: out
  - save: out
"""


class DeviceHeap(ScenarioTest):
    def go(self, kernel, heap="1MiB", grid=4, size=0, bytes_behind=0, times=1, workload=WORKLOAD):
        text = PTX.replace("SIZE", str(size)).replace("BYTES", str(bytes_behind))
        self.write("k.ptx", text.replace("TIMES", str(times)))
        text = workload.replace("KERNEL", kernel).replace("HEAP", heap).replace("GRID", str(grid))
        self.write("w.yaml", text)
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                             "tenants:\n  - {name: one, workload: w.yaml}\n")
        return self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")

    def result(self):
        with h5py.File(self.folder / "o.h5", "r") as file:
            return file["buffers/one/out"][:]

    def assert_ends(self, run, *words):
        self.assertNotEqual(run.returncode, 0)
        lines = [line for line in (run.stderr + run.stdout).splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(len(lines), 1, run.stderr + run.stdout)
        for word in words:
            self.assertIn(word, lines[0])

    def test_threads_get_blocks_of_their_own(self):
        run = self.go("blocks")
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertEqual(self.result().tolist(), [4 * t + 7 for t in range(256)])

    def test_blocks_that_were_freed_are_given_again(self):
        # 256 threads take some 60 KiB in each of eight rounds.
        launch = "  - launch: {kernel: KERNEL, grid: [GRID], block: [64], arguments: [out]}\n"
        rounds = "  - repeat: {times: 8, program: [{" + launch[4:-1] + "}]}\n"
        run = self.go("blocks", heap="80KiB", workload=WORKLOAD.replace(launch, rounds))
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)

    def test_null_when_full(self):
        # 4096 bytes, 32 of them the allocator's own: three blocks of 1024.
        run = self.go("fill", heap="4KiB", grid=1, size=1000)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertEqual(self.result()[0], 3)

    def test_null_for_nothing_and_for_more_than_there_is(self):
        for size in (0, 1 << 40):
            with self.subTest(size=size):
                run = self.go("fill", grid=1, size=size)
                self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
                self.assertEqual(self.result()[0], 0)

    def test_a_wrong_free_ends_the_tenant(self):
        message = "free got a pointer that malloc did not give, or that was freed before"
        for behind, times in ((8, 1), (16, 1), (1 << 32, 1), (0, 2)):
            with self.subTest(behind=behind, times=times):
                self.assert_ends(self.go("wrong", bytes_behind=behind, times=times), message)

    def test_malloc_needs_a_heap(self):
        workload = WORKLOAD.replace("heap: HEAP\n", "")
        self.assert_ends(self.go("blocks", workload=workload), "w.yaml:1:", "malloc", "heap: 64MiB")

    def test_a_heap_has_a_size_that_can_be(self):
        self.assert_ends(self.go("blocks", heap="1KiB"), "w.yaml:2:", "4KiB to 64GiB")


if __name__ == "__main__":
    unittest.main()
