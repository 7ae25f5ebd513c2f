/// Lines that kernels print, on their way to the user.
///
/// Text is passed on when it arrives at the host, so its order is that of messages: the same in any
/// layout.  Lines of one tenant are never mixed with those of another; when there are several, each
/// line begins with its tenant's name.
/// Source: CUDA C++ Programming Guide, "Formatted Output".
///
/// Simplified: text is passed on when it arrives, except for an unfinished line, and none is lost.
/// CUDA keeps text in a ring of 1 MiB until the host synchronises, and overwrites the oldest.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/workload/scenario.hpp"

namespace lockstep {

class PrintedLines {
 public:
  /// Gets whole lines, with their ends.
  using Sink = std::function<void(std::string_view)>;

  PrintedLines(const std::vector<Tenant>& tenants, Sink sink);

  void add(std::size_t tenant, std::string_view text);
  /// Ends the tenant's last line: the tenant prints no more.
  void end(std::size_t tenant);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(begun_);
  }

 private:
  std::vector<std::string> prefixes_;
  std::vector<std::string> begun_;  ///< text of each tenant without the end of its line
  Sink sink_;
};

}  // namespace lockstep
