#include "models/cpu/profile_stream.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep {

namespace {

/// Returns the time of the slowest of some banks beyond that of the average bank, in standard
/// deviations of the time of one bank.  The formula is a fit to measured parallelism: banks with
/// many reads also wait for those of their channel and for writes.
double excess_of_slowest(double banks, double reads_of_bank) {
  return (1.75 + 0.17 * reads_of_bank) * (banks - 1) / (banks + 1.6);
}

/// Returns over how many banks a group must be spread for `wanted` of them to be busy on average.
/// Banks that are done before the slowest are not busy.
double banks_for(double wanted, const CpuTraffic& traffic, double reads, const MemoryTimes& times) {
  const double hits = traffic.row_locality, requests = reads / (1 - traffic.write_share);
  double banks = wanted;
  for (int round = 0; round < 8; ++round) {
    const double of_bank = requests / banks;
    const double work = of_bank * (hits * times.hit + (1 - hits) * times.miss);
    const double deviation = std::sqrt(of_bank * hits * (1 - hits)) * (times.miss - times.hit);
    const double average = times.path + work;
    banks = wanted * (average + deviation * excess_of_slowest(banks, reads / banks)) / average;
  }
  return banks;
}

}  // namespace

ProfileStream::ProfileStream(const CpuTraffic& traffic, CpuMisses misses, std::uint32_t window,
                             const MemoryTimes& times, const CoreMemory& memory, Random random)
    : traffic_(traffic),
      spread_(misses == CpuMisses::spread),
      interval_(1000 / traffic.misses),
      memory_(memory),
      lines_of_row_(static_cast<std::uint32_t>(memory.row_bytes() / cpu_line_bytes)),
      distance_(window),
      random_(random),
      banks_(memory.banks()),
      order_(memory.banks()) {
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  // Reads of a group are adjacent; the next group comes a window behind the last one.
  const double least = window / std::max(interval_ - 1, 0.25);
  reads_of_group_ = static_cast<std::uint32_t>(std::ceil(least));
  const auto most = static_cast<double>(banks_.size());
  for (int round = 0; round < 2; ++round) {
    banks_of_group_ =
        std::min(banks_for(traffic.bank_parallelism, traffic, reads_of_group_, times), most);
    reads_of_group_ =
        std::max(reads_of_group_, static_cast<std::uint32_t>(std::ceil(banks_of_group_)));
  }
  slack_ = std::max(reads_of_group_ * (interval_ - 1) - static_cast<double>(distance_), 0.0);
  first_ = random_.uniform() * (spread_ ? interval_ : 2 * slack_);
  instruction_ = static_cast<std::int64_t>(first_);
  begin_group();
}

/// Draws its banks, the first of a new order.
void ProfileStream::begin_group() {
  const double floor = std::floor(banks_of_group_);
  group_banks_ = static_cast<std::uint32_t>(floor);
  if (random_.uniform() < banks_of_group_ - floor) ++group_banks_;
  for (std::uint32_t i = 0; i < group_banks_; ++i)
    std::swap(order_[i], order_[i + random_.below(order_.size() - i)]);
  read_ = 0;
}

std::optional<CpuAccess> ProfileStream::next() {
  if (writes_ && random_.uniform() < traffic_.write_share) return access(true);
  if (writes_) {
    writes_ = false;
    go_on();
  }
  const CpuAccess read = access(false);
  writes_ = true;
  return read;
}

/// Goes on to the next read.
void ProfileStream::go_on() {
  const bool ended = ++read_ == reads_of_group_;
  if (spread_) {
    instruction_ = static_cast<std::int64_t>(first_ + static_cast<double>(++reads_) * interval_);
  } else {
    ++instruction_;
    if (ended)
      instruction_ += distance_ + static_cast<std::int64_t>(random_.uniform() * 2 * slack_ + 0.5);
  }
  if (ended) begin_group();
}

/// Returns an access to the bank whose turn it is.
CpuAccess ProfileStream::access(bool write) {
  const std::uint32_t turn =
      static_cast<std::uint32_t>(std::uint64_t{read_} * group_banks_ / reads_of_group_);
  const std::uint16_t number = order_[turn];
  Bank& bank = banks_[number];
  if (memory_.rows() > 1 && random_.uniform() >= traffic_.row_locality) {
    bank.row = (bank.row + 1 + random_.below(memory_.rows() - 1)) % memory_.rows();
    bank.line = static_cast<std::uint32_t>(random_.below(lines_of_row_));
  } else {
    bank.line = bank.line + 1 == lines_of_row_ ? 0 : bank.line + 1;
  }
  return {instruction_, memory_.offset_of(number, bank.row, bank.line * cpu_line_bytes), write};
}

void ProfileStream::serialize(Archive& archive) {
  archive(random_, banks_, order_, instruction_, reads_, read_, group_banks_, writes_);
}

}  // namespace lockstep
