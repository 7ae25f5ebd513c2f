#include "models/dispatch/dependents.hpp"

#include <algorithm>

namespace lockstep {

void Dependents::accept(DispatchedGrid& grid) const {
  if (grid.launch.primary == 0) return;
  const auto primary = grids_.find(grid.launch.primary - 1);
  grid.depends = primary != grids_.end();
  grid.is_held = grid.depends && !(overlap_ && primary->has_let_go());
}

void Dependents::let_go(DispatchedGrid& grid) const {
  ++grid.let_go;
  if (!overlap_ || !grid.has_let_go()) return;
  const auto dependent = of(grid.number());
  if (dependent != grids_.end()) dependent->is_held = false;
}

DispatchedGrids::iterator Dependents::of(std::uint32_t primary) const {
  return std::find_if(grids_.begin(), grids_.end(), [&](const DispatchedGrid& grid) {
    return grid.launch.primary == primary + 1;
  });
}

void Dependents::primary_is_over(DispatchedGrid& grid, std::vector<Link>& to_sms, Time now,
                                 Outbox& outbox) {
  grid.depends = grid.is_held = false;
  for (std::uint32_t sm = 0; sm < to_sms.size(); ++sm)
    if (grid.known_at[sm])
      outbox.send(to_sms[sm], now, kind_of(MessageKind::primary_is_over),
                  GridReference{grid.number(), sm});
}

std::string Dependents::waiting_for() const {
  std::string text;
  for (const DispatchedGrid& grid : grids_)
    if (grid.is_held)
      text += "; grid " + std::to_string(grid.number()) + " begins when grid " +
              std::to_string(grid.launch.primary - 1) +
              (overlap_ ? " has ended, or all its blocks have executed "
                          "griddepcontrol.launch_dependents"
                        : " has ended");
  return text;
}

}  // namespace lockstep
