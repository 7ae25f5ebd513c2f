#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "models/memory/dram_channel.hpp"

namespace lockstep {

/// The DRAM channels of a partition: each has banks, buses, queues and a scheduler of its own, and
/// a share of the partition's bytes.
///
/// Commands of the channels are taken in order of time, so that read data come back in order.
/// Source: JEDEC, JESD235 and JESD238 (a pseudo-channel has its own banks and data bus).
///
/// Simplified: channels share no command bus.
class DramChannels {
 public:
  /// Makes a scheduler for each channel; `phase` delays the first refresh of the first channel, and
  /// each further channel refreshes a bit later (DRAM cycles).
  DramChannels(const DramParameters& parameters,
               std::vector<std::unique_ptr<DramScheduler>> schedulers, std::int64_t phase,
               std::int64_t phases_apart, std::size_t tenants, PartitionStatistics& statistics);

  /// Returns whether a request for a line may enter the queue of its channel now.
  bool room(PartitionOffset offset, const MemoryRequest& request, bool write) const {
    return channels_[layout_.channel(offset)]->room(request, write);
  }
  /// Returns whether any channel may take a request of a direction. If so, requests that wait for
  /// room are woken.
  bool may_have_room(bool write) const {
    return std::any_of(channels_.begin(), channels_.end(),
                       [&](const auto& channel) { return channel->may_have_room(write); });
  }
  std::uint32_t waiting() const;

  /// Enters a request as DramChannel::enqueue does. Precondition: there is room.
  void enqueue(Time now, PartitionOffset offset, std::uint8_t sectors, bool write,
               const MemoryRequest& request, std::uint32_t owner) {
    DramChannel& channel = *channels_[layout_.channel(offset)];
    channel.enqueue(now, offset, sectors, write, request, owner);
    next_ = std::min(next_, channel.next_activity());
  }
  /// Returns when a channel will next look for a command; Time::never() when nothing waits.
  Time next_activity() const { return next_; }
  /// Lets the channel whose time has come act, until a request leaves, another channel's time comes
  /// first, or the next command would come after `last`.
  const DramChannel::Step& step(Time last);

  /// The schedulers may choose otherwise from now on.
  void look_again(Time now);
  /// Counts from now on how many banks of each channel work for each tenant.
  void count_banks(std::size_t tenants);
  std::uint32_t count() const { return static_cast<std::uint32_t>(channels_.size()); }
  DramScheduler& scheduler(std::uint32_t channel) { return channels_[channel]->scheduler(); }

  void serialize(Archive& archive);

 private:
  void find_next();

  const DramLayout layout_;
  std::vector<std::unique_ptr<DramChannel>> channels_;
  Time next_ = Time::never();  ///< earliest time of all channels
};

}  // namespace lockstep
