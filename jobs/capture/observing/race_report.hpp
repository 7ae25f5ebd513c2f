/// Races of captured kernels in shared memory, as text: a line for each pair of PTX lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "models/isa/interpreter/interpreter.hpp"
#include "models/isa/interpreter/races/shared_races.hpp"

namespace lockstep::capture {

class RaceReport {
 public:
  /// Lines that are said; the summary counts the rest.
  static constexpr std::size_t most_lines = 100;

  /// Returns the list for the races that a launch of the kernel finds.
  isa::RaceList& of_kernel(const std::string& name) { return kernels_[name].races; }
  /// Returns a line for each race that the last launch of the kernel added.  `file`: file of the
  /// recording.
  std::string news(const std::string& kernel, const std::string& file, const isa::Launch& launch);
  std::string summary() const;

 private:
  struct Kernel {
    isa::RaceList races;
    std::size_t seen = 0;
  };
  std::map<std::string, Kernel> kernels_;
  /// Kernel and lines of each pair.
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> pairs_;
};

}  // namespace lockstep::capture
