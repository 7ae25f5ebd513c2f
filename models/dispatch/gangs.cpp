#include "models/dispatch/gangs.hpp"

#include <limits>

namespace lockstep {

std::optional<std::size_t> Gangs::gathering() const {
  for (std::size_t g = 0; g < grids_.size(); ++g)
    if (grids_[g].is_gathering()) return g;
  return std::nullopt;
}

bool Gangs::overlaps(const DispatchedGrid& gang) const {
  return std::any_of(grids_.begin(), grids_.end(), [&](const DispatchedGrid& other) {
    return &other != &gang && other.cooperative && other.next_block > 0 &&
           other.launch.tenant == gang.launch.tenant && other.launch.module == gang.launch.module;
  });
}

bool Gangs::reserve(DispatchedGrid& gang,
                    const std::function<bool(std::uint32_t)>& may_have) const {
  if (overlaps(gang)) return false;
  gang.reserved.assign(sms_.size(), 0);
  std::uint64_t lacking = gang.blocks;
  for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
    if (sms_[sm].has_staged || !may_have(sm)) continue;
    const auto most = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(gang.blocks, std::numeric_limits<std::uint32_t>::max()));
    gang.reserved[sm] = sms_.room_for(sm, gang, grids_, most);
    lacking -= std::min<std::uint64_t>(lacking, gang.reserved[sm]);
  }
  return lacking == 0;
}

}  // namespace lockstep
