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
  /// `scheduler` as a scenario says it; with its controller, if it has one.
  explicit DramBench(const DramParameters& parameters = tiny_hbm2(),
                     const std::string& scheduler = "fr-fcfs", std::size_t tenants = 2);
  DramBench(const DramParameters& parameters, std::unique_ptr<DramScheduler> scheduler,
            std::size_t tenants = 2);
  ~DramBench();

  DramChannel& channel() { return channel_; }
  const PartitionStatistics& statistics() const { return statistics_; }
  const DramParameters& timing() const { return parameters_; }

  /// For the `line`-th line of a row.
  struct Request {
    std::uint32_t bank = 0, row = 0;
    std::uint16_t tenant = 0;
    SourceKind source = SourceKind::sm;
    bool write = false;
    std::uint8_t sectors = 1;
    std::size_t line = 0;
    std::uint8_t marks = 0;
    std::uint8_t walk_level = 0;
  };
  /// Its number.
  std::uint32_t send(std::int64_t at, const Request& request);
  std::uint32_t read(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                     std::uint8_t sectors = 1, std::size_t line = 0) {
    return send(at, {.bank = bank, .row = row, .sectors = sectors, .line = line});
  }
  std::uint32_t write(std::int64_t at, std::uint32_t bank, std::uint32_t row,
                      std::uint8_t sectors = 1) {
    return send(at, {.bank = bank, .row = row, .write = true, .sectors = sectors});
  }
  /// A quantum ends in cycle `at`: the controller gets what the scheduler reports, and the
  /// scheduler is told what it decides.
  void decide(std::int64_t at);
  StatisticsView policy_statistics() { return channel_.scheduler().statistics(); }

  void run_before(std::int64_t cycle);
  void run();

  const std::vector<DramCommand>& commands();
  /// "ACT RD RD"
  std::string names();
  std::int64_t gap(std::size_t from, std::size_t to);
  /// Requests in the order in which their data came, with the cycle of the last datum.
  const std::vector<std::pair<std::uint32_t, std::int64_t>>& returned();
  /// Their numbers alone.
  std::vector<std::uint32_t> order();
  std::uint32_t served() const { return served_; }

  std::string save();
  void restore(const std::string& state);

 private:
  void step();

  const DramParameters parameters_;
  const Time period_;
  PartitionStatistics statistics_;
  DramChannel channel_;
  std::unique_ptr<EpochController> controller_;
  std::uint64_t quantum_ = 0;
  std::vector<DramCommand> commands_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> returned_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> lines_;
  std::uint32_t sent_ = 0, served_ = 0;
};

}  // namespace lockstep::test
