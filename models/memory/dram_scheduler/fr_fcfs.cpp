/// First ready, first come first served.
///
/// Of all commands that can issue now, column commands for open rows go first, the oldest request
/// first; beside them the oldest request whose bank needs another row.  A row stays open while a
/// request for it waits.
/// Source: 004, section 2.1 of memory-interference.md (Rixner et al., ISCA 2000).
///
/// Simplified: a bank stops serving younger row hits once its oldest request is older than
/// `age_limit`; the sources starve such requests, we do not let them wait for ever.
#include <algorithm>
#include <bit>

#include "core/parameters/parameters.hpp"
#include "models/memory/dram_scheduler/dram_scheduler.hpp"

namespace lockstep {
namespace {

struct FrFcfsParameters {
  Cycles age_limit;
  static auto schema() {
    using namespace literals;
    return parameters<FrFcfsParameters>().field(
        "age_limit", &FrFcfsParameters::age_limit, 5000_cycles, at_least(1_cycles),
        "DRAM cycles after which a request goes before younger hits in its bank");
  }
};

class FrFcfs final : public DramScheduler {
 public:
  explicit FrFcfs(std::int64_t age_limit) : age_limit_(age_limit) {}

  DramChoice choose(const DramQueue& queue, const DramBanks& banks, std::int64_t now) override {
    DramChoice choice;
    std::uint64_t column_order = ~std::uint64_t{0}, row_order = ~std::uint64_t{0};
    for (std::uint64_t rest = queue.active_banks(); rest != 0; rest &= rest - 1) {
      const auto bank = static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint32_t head = queue.oldest(bank);
      std::uint32_t place = queue.oldest_hit(bank);
      const bool column =
          place != DramEntry::none && (place == head || now - queue[head].arrival < age_limit_);
      if (!column) place = head;
      const DramEntry& entry = queue[place];
      const std::int64_t at = column ? banks.earliest_column(bank, entry.write)
                              : banks.open_row(bank) == DramBanks::no_row
                                  ? banks.earliest_activate(bank)
                                  : banks.earliest_precharge(bank);
      if (at > now) {
        choice.wake = std::min(choice.wake, at);
      } else if (column) {
        if (entry.order < column_order) column_order = entry.order, choice.column = place;
      } else if (entry.order < row_order) {
        row_order = entry.order, choice.row = place;
      }
    }
    return choice;
  }

 private:
  const std::int64_t age_limit_;
};

}  // namespace

const ParameterSchema& fr_fcfs_parameters() {
  return schema_of<FrFcfsParameters>();
}

std::unique_ptr<DramScheduler> make_fr_fcfs(const PolicyChoice& choice) {
  return std::make_unique<FrFcfs>(choice.parameters<FrFcfsParameters>().age_limit.count());
}

}  // namespace lockstep
