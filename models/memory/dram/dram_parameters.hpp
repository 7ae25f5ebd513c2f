#pragma once

#include <algorithm>

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Moment at which a row is closed: when a request needs another row, or as soon as no request
/// waits for it.
enum class DramRows : std::uint8_t { open, closed };

/// Scope of the turn between writes and reads: the whole channel, or each bank by itself.
enum class DramTurnaround : std::uint8_t { channel, bank };

/// Parameters of the DRAM channels of a partition, which are alike: key `memory.dram` of a GPU. All
/// timings in command-clock cycles.
///
/// The defaults are HBM2 at 878 MHz: DRAMsim3's HBM2_8Gb_x128 scaled by time, CL and bank-group
/// timings as in GPGPU-Sim's QV100.  Source: gpu-parameters.md, sections 9 and 18.
struct DramParameters {
  Frequency clock;
  std::uint32_t channels = 0, bank_groups = 0, banks = 0;
  Bytes row, interleave, atom;
  Cycles burst;
  bool dual_command_bus = false;
  DramRows rows = DramRows::open;
  DramTurnaround turnaround = DramTurnaround::channel;
  std::uint32_t queue = 0, gpu_queue = 0, write_queue = 0, write_high = 0, write_low = 0;
  Cycles path_latency;
  Cycles rcd_read, rcd_write, rp, ras, rc, rrd_s, rrd_l, ccd_s, ccd_l, faw;
  Cycles cl, cwl, wtr_s, wtr_l, rtp, wr, refi, rfc, rfc_bank;

  /// Returns the peak bandwidth of all data buses of a partition.
  std::uint64_t bytes_per_second() const {
    return channels * atom.count() * static_cast<std::uint64_t>(clock.hertz()) /
           static_cast<std::uint64_t>(burst.count());
  }

  static auto schema() {
    using namespace literals;
    using P = DramParameters;
    const auto timing = range(0_cycles, 100000_cycles);
    return parameters<P>()
        .field("clock", &P::clock, 878_MHz, range(1_MHz, 10000_MHz), "command clock")
        .field("channels", &P::channels, 1, range(1, 16).powers_of_two(),
               "channels of a partition, each with banks, buses and queues of its own, as given "
               "here; the pseudo-channels of HBM2 and HBM3 count as channels. Pieces of "
               "`interleave` bytes take turns, permuted by a hash of the higher bits")
        .field("bank_groups", &P::bank_groups, 4, range(1, 16).powers_of_two(),
               "groups, the low bits of the bank number")
        .field("banks", &P::banks, 16, range(1, 64).powers_of_two(), "banks of a channel, in all")
        .field("row", &P::row, 2_KiB, range(256_B, 64_KiB).powers_of_two(),
               "row buffer of a bank, all chips of the channel together")
        .field("interleave", &P::interleave, 256_B, range(128_B, 64_KiB).powers_of_two(),
               "consecutive bytes in one bank before the next bank group follows")
        .field("atom", &P::atom, 32_B, range(32_B, 64_B).powers_of_two(),
               "bytes of one column command")
        .field("burst", &P::burst, 1_cycles, range(1_cycles, 64_cycles),
               "cycles for which one column command takes the data bus")
        .field("dual_command_bus", &P::dual_command_bus, true,
               "a row and a column command may issue in the same cycle (HBM)")
        .field("rows", &P::rows, DramRows::open, choice({"open", "closed"}),
               "open: a row stays open until its bank needs another one; closed: only while "
               "requests for it wait, and is closed with the last one (auto-precharge)")
        .field(
            "turnaround", &P::turnaround, DramTurnaround::channel, choice({"channel", "bank"}),
            "what waits when writes and reads change places. channel: all banks, for wtr_s or "
            "wtr_l and for two cycles from read data to write data, as JEDEC's DRAMs; bank: only "
            "the bank itself, for wtr_l and the two cycles, while between banks only data may "
            "not overlap on the bus (as HWASim of Usui et al. 2016)")
        .field("queue", &P::queue, 64, range(1, 4096),
               "places for reads (and for writes, too, "
               "without write_queue)",
               "requests")
        .field("gpu_queue", &P::gpu_queue, 0, range(0, 4096),
               "places of the queue that requests of SMs and page walks may take; the others are "
               "for the CPU; 0: all",
               "requests")
        .field("write_queue", &P::write_queue, 64, range(0, 4096),
               "places for writes; 0 lets reads and writes share one queue", "requests")
        .field("write_high", &P::write_high, 48, range(1, 4096),
               "waiting writes at which the channel turns to writing", "requests")
        .field("write_low", &P::write_low, 16, range(0, 4096),
               "waiting writes at which the channel turns back to waiting reads", "requests")
        .field("path_latency", &P::path_latency, 100_cycles, range(1_cycles, 10000_cycles),
               "fixed way from L2 to the controller and back, in L2 cycles, charged on the way "
               "back")
        .field("rcd_read", &P::rcd_read, 13_cycles, timing, "activate to read")
        .field("rcd_write", &P::rcd_write, 13_cycles, timing, "activate to write")
        .field("rp", &P::rp, 13_cycles, timing, "precharge to activate")
        .field("ras", &P::ras, 30_cycles, timing, "activate to precharge")
        .field("rc", &P::rc, 43_cycles, timing, "activate to activate of the same bank")
        .field("rrd_s", &P::rrd_s, 4_cycles, timing, "activate to activate of other bank groups")
        .field("rrd_l", &P::rrd_l, 6_cycles, timing, "activate to activate in a bank group")
        .field("ccd_s", &P::ccd_s, 1_cycles, timing, "column to column of other bank groups")
        .field("ccd_l", &P::ccd_l, 2_cycles, timing, "column to column in a bank group")
        .field("faw", &P::faw, 27_cycles, timing, "window that holds at most four activates")
        .field("cl", &P::cl, 13_cycles, timing, "read to first data")
        .field("cwl", &P::cwl, 4_cycles, timing, "write to first data")
        .field("wtr_s", &P::wtr_s, 6_cycles, timing, "end of write data to read, other groups")
        .field("wtr_l", &P::wtr_l, 8_cycles, timing, "end of write data to read, same group")
        .field("rtp", &P::rtp, 4_cycles, timing, "read to precharge")
        .field("wr", &P::wr, 14_cycles, timing, "end of write data to precharge")
        .field("refi", &P::refi, 3424_cycles, timing,
               "cycles between refreshes of all banks; 0 turns refresh off")
        .field("rfc", &P::rfc, 229_cycles, timing, "cycles of a refresh of all banks")
        .field("rfc_bank", &P::rfc_bank, 0_cycles, timing,
               "cycles of a refresh of one bank; each bank has its turn within refi while the "
               "others go on (HBM2); 0: all are refreshed together")
        .only_if("write_high write_low", "with write_queue above 0",
                 [](const P& p) { return p.write_queue > 0; })
        .only_if("rfc_bank", "with refi above 0", [](const P& p) { return p.refi > Cycles{0}; })
        .check([](const P& p) -> std::string {
          if (p.banks < p.bank_groups) return "fewer banks than bank groups - lower bank_groups";
          if (p.row < p.interleave) return "interleave is larger than a row - lower it";
          if (p.gpu_queue > p.queue + p.write_queue)
            return "gpu_queue is larger than the whole queue - lower it, or raise queue";
          if (p.write_queue != 0 && (p.write_high > p.write_queue || p.write_low >= p.write_high))
            return "write_low < write_high <= write_queue does not hold - change one of them";
          if (p.rfc_bank > Cycles{0} && p.refi > Cycles{0} &&
              p.refi <= std::max(p.rfc_bank, Cycles{p.banks}))
            return "refi is not larger than rfc_bank and banks - raise refi, or set rfc_bank to 0";
          return p.refi > Cycles{0} && p.refi <= p.rfc
                     ? "refi is not larger than rfc - raise refi, or set it to 0"
                     : "";
        });
  }
};

}  // namespace lockstep
