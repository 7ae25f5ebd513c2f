#include "models/host_link/uplink.hpp"

#include <algorithm>
#include <set>

namespace lockstep {

std::vector<UplinkParameters> read_uplinks(const HostParameters& host, std::size_t gpus) {
  std::vector<UplinkParameters> uplinks;
  if (!host.uplinks.exists()) return uplinks;
  std::set<std::uint32_t> known;
  for (const Node& node : host.uplinks.items()) {
    uplinks.push_back(read_parameters<UplinkParameters>(node));
    const Node numbers = node.at("gpus");
    const std::vector<std::uint32_t>& behind = uplinks.back().gpus;
    if (behind.empty()) throw numbers.error("no GPU is behind this uplink", "name some");
    for (std::size_t i = 0; i < behind.size(); ++i) {
      const std::string name = "GPU " + std::to_string(behind[i]);
      const Node item = numbers.item(i);
      if (behind[i] >= gpus)
        throw item.error(name + " is not there: the machine has " + std::to_string(gpus),
                         gpus == 1 ? "they are numbered from 0; add gpus: 2 to have another"
                                   : "they are numbered from 0; raise gpus or leave it out");
      if (!known.insert(behind[i]).second)
        throw item.error(name + " is behind two uplinks", "name it once");
    }
  }
  return uplinks;
}

const UplinkParameters* uplink_of(const std::vector<UplinkParameters>& uplinks, std::uint32_t gpu) {
  for (const UplinkParameters& uplink : uplinks)
    if (std::find(uplink.gpus.begin(), uplink.gpus.end(), gpu) != uplink.gpus.end()) return &uplink;
  return nullptr;
}

Uplink::Uplink(Bandwidth bandwidth, std::size_t tenants)
    : bytes_per_second_(bandwidth.bytes_per_second()) {
  for (Direction& direction : directions_) set_tenants(direction.statistics, tenants);
}

Time Uplink::take(bool to_gpu, Time now, std::uint64_t bytes, std::uint32_t tenant) {
  Direction& direction = directions_[to_gpu];
  if (bytes == 0) return now;
  const Time taken{
      static_cast<std::int64_t>(static_cast<double>(bytes) * 1e15 / bytes_per_second_)};
  const Time begin = std::max(direction.free, now);
  const auto waited = static_cast<std::uint64_t>((begin - now).femtoseconds());
  UplinkStatistics& statistics = direction.statistics;
  statistics.bytes[tenant] += bytes;
  statistics.busy_time[tenant] += static_cast<std::uint64_t>(taken.femtoseconds());
  statistics.queue_time[tenant] += waited;
  statistics.wait_behind.at(tenant, direction.last) += waited;
  direction.last = tenant;
  direction.free = begin + taken;
  return direction.free;
}

}  // namespace lockstep
