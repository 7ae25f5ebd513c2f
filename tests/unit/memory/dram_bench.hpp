#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/memory/dram_channel.hpp"
#include "models/memory/memory_parameters.hpp"

namespace lockstep::test {

/// HBM2 at 1 GHz as DRAMsim3 has it, without refresh and write queue: cycles to count by hand.
DramParameters tiny_hbm2();

/// A partition's parameters with this channel.
MemoryParameters memory_of(const DramParameters& dram);

/// A channel, requests by bank and row, and the commands that it issued.
class DramBench {
 public:
  explicit DramBench(const DramParameters& parameters = tiny_hbm2(),
                     const std::string& scheduler = "fr-fcfs");
  DramBench(const DramParameters& parameters, std::unique_ptr<DramScheduler> scheduler,
            std::size_t tenants = 2);
  ~DramBench();

  DramChannel& channel() { return channel_; }
  const PartitionStatistics& statistics() const { return statistics_; }
  const DramParameters& timing() const { return parameters_; }

  /// A request for the `line`-th line of a row, in cycle `at`; its number.
  std::uint32_t request(std::int64_t at, bool write, std::uint32_t bank, std::uint32_t row,
                        std::uint8_t sectors = 1, std::size_t line = 0) {
    return request_of(0, at, write, bank, row, sectors, line);
  }
  std::uint32_t request_of(std::uint16_t tenant, std::int64_t at, bool write, std::uint32_t bank,
                           std::uint32_t row, std::uint8_t sectors = 1, std::size_t line = 0);
  std::uint32_t read(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                     std::uint8_t sectors = 1, std::size_t line = 0) {
    return request(at, false, bank, row, sectors, line);
  }
  std::uint32_t write(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                      std::uint8_t sectors = 1) {
    return request(at, true, bank, row, sectors);
  }

  void run_before(std::int64_t cycle);
  void run();

  const std::vector<DramCommand>& commands();
  /// "ACT RD RD"
  std::string names();
  std::int64_t gap(std::size_t from, std::size_t to);
  /// Requests in the order in which their data came, with the cycle of the last datum.
  const std::vector<std::pair<std::uint32_t, std::int64_t>>& returned();
  std::uint32_t served() const { return served_; }

  std::string save();
  void restore(const std::string& state);

 private:
  void step();

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
