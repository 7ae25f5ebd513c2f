#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/memory/dram_channel.hpp"

namespace lockstep::test {

/// HBM2 at 1 GHz as DRAMsim3 has it, without refresh and write queue: cycles to count by hand.
inline DramParameters tiny_hbm2() {
  using namespace literals;
  DramParameters p = defaults<DramParameters>();
  p.clock = 1000_MHz;
  p.rcd_read = p.rcd_write = p.rp = p.cl = 14_cycles;
  p.ras = 34_cycles;
  p.rc = 48_cycles;
  p.rrd_s = 4_cycles;
  p.rrd_l = 6_cycles;
  p.ccd_s = 1_cycles;
  p.ccd_l = 2_cycles;
  p.faw = 30_cycles;
  p.cwl = 4_cycles;
  p.wtr_s = 6_cycles;
  p.wtr_l = 8_cycles;
  p.rtp = 4_cycles;
  p.wr = 16_cycles;
  p.refi = 0_cycles;
  p.rfc = 260_cycles;
  p.write_queue = 0;
  return p;
}

inline PolicyChoice dram_scheduler(const std::string& name) {
  for (const PolicyInfo& info : dram_scheduler_policies())
    if (info.name == name) return PolicyChoice(info);
  return {};
}

/// A channel, requests by bank and row, and the commands that it issued.
class DramBench {
 public:
  explicit DramBench(const DramParameters& parameters = tiny_hbm2(),
                     const std::string& scheduler = "fr-fcfs")
      : parameters_(parameters),
        period_(Clock(parameters.clock).period()),
        channel_(parameters, dram_scheduler(scheduler), 0, 2, statistics_) {
    set_tenants(statistics_, 2);
    channel_.record(&commands_);
    // Offsets of the first two megabytes by where they stand.
    for (std::uint64_t offset = 0; offset < (2 << 20); offset += 128) {
      const DramAddress a = channel_.locate(offset);
      lines_[{a.bank, a.row}].push_back(offset);
    }
  }

  DramChannel& channel() { return channel_; }
  const PartitionStatistics& statistics() const { return statistics_; }
  const DramParameters& timing() const { return parameters_; }

  /// A request for the `line`-th line of a row, in cycle `at`; its number.
  std::uint32_t request(std::int64_t at, bool write, std::uint32_t bank, std::uint32_t row,
                        std::uint8_t sectors = 1, std::size_t line = 0) {
    run_before(at);
    MemoryRequest r;
    r.sectors = sectors;
    channel_.enqueue(period_ * at, lines_.at({bank, row}).at(line), sectors, write, r, sent_);
    return sent_++;
  }
  std::uint32_t read(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                     std::uint8_t sectors = 1, std::size_t line = 0) {
    return request(at, false, bank, row, sectors, line);
  }
  std::uint32_t write(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                      std::uint8_t sectors = 1) {
    return request(at, true, bank, row, sectors);
  }

  void run_before(std::int64_t cycle) {
    while (channel_.next_activity() < period_ * cycle) step();
  }
  void run() {
    while (channel_.next_activity() != Time::never()) step();
  }

  const std::vector<DramCommand>& commands() {
    run();
    return commands_;
  }
  /// "ACT RD RD"
  std::string names() {
    static constexpr const char* text[] = {"ACT", "PRE", "RD", "WR"};
    std::string all;
    for (const DramCommand& c : commands())
      all += (all.empty() ? "" : " ") + std::string(text[static_cast<unsigned>(c.kind)]);
    return all;
  }
  std::int64_t gap(std::size_t from, std::size_t to) {
    return commands().at(to).cycle - commands().at(from).cycle;
  }
  /// Requests in the order in which their data came, with the cycle of the last datum.
  const std::vector<std::pair<std::uint32_t, std::int64_t>>& returned() {
    run();
    return returned_;
  }
  std::uint32_t served() const { return served_; }

 private:
  void step() {
    const DramChannel::Step s = channel_.step();
    served_ += s.left;
    if (s.returned)
      returned_.push_back({s.owner, s.data_end.femtoseconds() / period_.femtoseconds()});
  }

  const DramParameters parameters_;
  const Time period_;
  PartitionStatistics statistics_;
  DramChannel channel_;
  std::vector<DramCommand> commands_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> returned_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> lines_;
  std::uint32_t sent_ = 0, served_ = 0;
};

}  // namespace lockstep::test
