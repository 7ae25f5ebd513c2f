#include "models/memory/dram_channels.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

DramChannels::DramChannels(const DramParameters& p,
                           std::vector<std::unique_ptr<DramScheduler>> schedulers,
                           std::int64_t phase, std::int64_t phases_apart, std::size_t tenants,
                           PartitionStatistics& statistics)
    : layout_(p) {
  LOCKSTEP_CHECK(schedulers.size() == p.channels, "each DRAM channel has a scheduler");
  for (std::uint32_t i = 0; i < p.channels; ++i)
    channels_.push_back(std::make_unique<DramChannel>(
        p, std::move(schedulers[i]), phase + phases_apart * i / p.channels, tenants, statistics));
}

std::uint32_t DramChannels::waiting() const {
  std::uint32_t waiting = 0;
  for (const auto& channel : channels_) waiting += channel->waiting();
  return waiting;
}

const DramChannel::Step& DramChannels::step(Time last) {
  DramChannel* first = channels_.front().get();
  if (channels_.size() == 1) {
    const DramChannel::Step& step = first->step(last);
    next_ = first->next_activity();
    return step;
  }
  // At equal times the channel with the lower number is first, wherever a window ends.
  Time at = Time::never(), before = Time::never(), until = Time::never();
  for (const auto& channel : channels_) {
    const Time next = channel->next_activity();
    if (next >= at) {
      until = std::min(until, next);
      continue;
    }
    until = Time::never();
    at = next;
    first = channel.get();
  }
  for (const auto& channel : channels_) {
    if (channel.get() == first) break;
    before = std::min(before, channel->next_activity());
  }
  const Time limit = before == Time::never() ? until : std::min(until, before - Time{1});
  const DramChannel::Step& step = first->step(std::min(last, limit));
  find_next();
  return step;
}

void DramChannels::look_again(Time now) {
  for (const auto& channel : channels_) channel->look_again(now);
  find_next();
}

void DramChannels::count_banks(std::size_t tenants) {
  for (const auto& channel : channels_) channel->count_banks(tenants);
}

void DramChannels::find_next() {
  next_ = Time::never();
  for (const auto& channel : channels_) next_ = std::min(next_, channel->next_activity());
}

void DramChannels::serialize(Archive& archive) {
  for (const auto& channel : channels_) channel->serialize(archive);
  find_next();
}

}  // namespace lockstep
