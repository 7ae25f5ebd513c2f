"""GPUs that fault one page in turn, ten thousand times, with delays at random: no stale translation, no lost byte."""
import random
import unittest

from machines import ManyGpusTest

ROUNDS = 10000  # of each of two GPUs: some accesses of both meet the page in one visit
# Words of a page, one for each thread, that are changed depending on what they were; between changes a warp waits for a
# time that it draws.
ALTERNATE = """\
.version 6.4
.target sm_70
.address_size 64
.visible .entry alternate(.param .u64 words, .param .u32 first, .param .u32 rounds, .param .u32 seed, .param .u32 most)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [words];
  ld.param.u32 %r1, [first];
  ld.param.u32 %r2, [rounds];
  ld.param.u32 %r3, [seed];
  ld.param.u32 %r4, [most];
  mov.u32 %r5, %tid.x;
  add.u32 %r5, %r5, %r1;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d1, %d1, %d2;
again:
  ld.global.u32 %r6, [%d1];
  mad.lo.u32 %r6, %r6, 5, 3;
  st.global.u32 [%d1], %r6;
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  shr.u32 %r7, %r3, 16;
  rem.u32 %r7, %r7, %r4;
wait:
  sub.u32 %r7, %r7, 1;
  setp.gt.s32 %p1, %r7, 0;
  @%p1 bra wait;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra again;
  ret;
}
"""


def storm(gpus, rounds, most, seed):
    launches = "".join(f"  - launch: {{kernel: alternate, gpu: {g}, grid: [1], block: [32], "
                       f"arguments: [words, {32 * g}, {rounds}, {seed + g}, {most}]}}\n" for g in range(gpus))
    return (f"module: alternate.ptx\nbuffers:\n  words: {{type: u32, count: {32 * gpus}, memory: managed, "
            f"init: {{linear: {{start: 1, step: 7}}}}}}\nprogram:\n{launches}  - synchronize\n  - read: words\n"
            "  - save: words\n")


def left(gpus, rounds):
    words = [1 + 7 * i for i in range(32 * gpus)]
    for _ in range(rounds):
        words = [(5 * word + 3) % 2**32 for word in words]
    return words


class UnmapStorms(ManyGpusTest):
    def setUp(self):
        super().setUp()
        self.write("alternate.ptx", ALTERNATE)

    def run_storm(self, rounds, policy, seed, gpus=2, fabric=True, most=(8, 60, 300), latency=(20, 130, 700)):
        """Returns how often the page came to a GPU.  Delays of the machine, too, are drawn."""
        drawn = random.Random(seed)
        self.write("w.yaml", storm(gpus, rounds, drawn.choice(most), seed))
        handling = f"{{name: host, cost_model: linear, handling: {drawn.choice(('200ns', '1us', '3us'))}}}"
        more = f"policies: {{peer_policy: {policy}, prefetcher: none, fault_handling: {handling}}}\n"
        if fabric:
            kind, rate = drawn.choice(("switch", "direct")), drawn.choice(("1GB/s", "25GB/s", "300GB/s"))
            more += f"fabric: {{name: drawn, kind: {kind}, rate: {rate}, latency: {drawn.choice(latency)}ns}}\n"
        tenant = f"workload: w.yaml, gpus: [{', '.join(map(str, range(gpus)))}]"
        with self.run_it(self.machine([tenant], f"gpus: {gpus}", more), "o.h5", "--check") as file:
            self.assertEqual(list(file["buffers/t0/words"][:]), left(gpus, rounds))
            hosts = [file[f"final/stats/gpu{g}/host"] for g in range(gpus)]
            return sum(int(host[counter][:].sum()) for host in hosts for counter in ("pages_migrated", "pages_fetched"))

    def test_ten_thousand_alternations_leave_the_right_bytes(self):
        for seed, fabric in enumerate((True, False)):
            with self.subTest(seed=seed, fabric=fabric):
                came = self.run_storm(ROUNDS, "{name: migrate, stays: 0us}", seed, fabric=fabric)
                self.assertGreaterEqual(came, 10000)

    def test_a_frame_waits_for_stores_on_their_way_to_it(self):
        """The fabric is slower than the driver. After a load each store is the second request, which moves the page."""
        for seed in range(3):
            with self.subTest(seed=seed):
                came = self.run_storm(300, "{name: remote, threshold: 2, stays: 0us}", seed, most=(1000,),
                                      latency=(10000,))
                self.assertGreater(came, 50)

    def test_under_every_policy(self):
        for seed, policy in enumerate(("{name: duplicate, stays: 0us}", "{name: remote, threshold: 1, stays: 0us}",
                                       "{name: remote, threshold: 3, stays: 0us, spill: neighbour}",
                                       "{name: driver, events: 2, lapse: 50us, pin: 1us, stays: 0us}",
                                       "{name: grit, faults: 1, threshold: 2, stays: 0us}")):
            for gpus in (2, 3):
                with self.subTest(policy=policy, gpus=gpus):
                    self.assertGreater(self.run_storm(300, policy, 10 * seed + gpus, gpus), 1)


if __name__ == "__main__":
    unittest.main()
