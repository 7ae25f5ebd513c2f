#include "jobs/capture/observing/race_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobs/capture/written_program.hpp"

namespace lockstep::capture {
namespace {

std::string three(std::uint64_t number, const std::array<std::uint32_t, 3>& size) {
  return fmt::format("({}, {}, {})", number % size[0], number / size[0] % size[1],
                     number / size[0] / size[1]);
}

const char* what_it_does(isa::AccessKind kind) {
  return kind == isa::AccessKind::load    ? "loads"
         : kind == isa::AccessKind::store ? "stores"
                                          : "changes by an atomic";
}

}  // namespace

std::string RaceReport::news(const std::string& name, const std::string& file,
                             const isa::Launch& launch) {
  Kernel& kernel = kernels_[name];
  const std::vector<isa::SharedRace>& races = kernel.races.races();
  const std::vector<std::uint32_t>& lines =
      launch.module.kernels[static_cast<std::size_t>(launch.kernel)].reference.source_lines;
  std::string text;
  for (; kernel.seen < races.size(); ++kernel.seen) {
    const isa::SharedRace& race = races[kernel.seen];
    const std::uint32_t first = lines[race.first.pc], second = lines[race.second.pc];
    const bool is_new =
        pairs_.insert({name, std::min(first, second), std::max(first, second)}).second;
    if (!is_new || pairs_.size() > most_lines) continue;
    text += fmt::format(
        "race in shared memory: kernel {}, byte {:#x}: {}:{} {} and {}:{} {}, with nothing that "
        "orders them; block {}, threads {} and {}\n",
        demangled(name), race.offset, file, first, what_it_does(race.first.kind), file, second,
        what_it_does(race.second.kind), three(race.block, launch.grid),
        three(race.first.thread, launch.block), three(race.second.thread, launch.block));
  }
  return text;
}

std::string RaceReport::summary() const {
  if (pairs_.empty()) return "no races in shared memory";
  std::set<std::string> kernels;
  for (const auto& pair : pairs_) kernels.insert(std::get<0>(pair));
  const auto counted = [](std::size_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const std::string unsaid =
      pairs_.size() > most_lines ? fmt::format(", the first {} stand above", most_lines) : "";
  return fmt::format("races in shared memory: {} of PTX lines in {}{}",
                     counted(pairs_.size(), "pair"), counted(kernels.size(), "kernel"), unsaid);
}

}  // namespace lockstep::capture
