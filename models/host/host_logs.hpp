#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/host/kernel_log.hpp"
#include "models/host/printed_lines.hpp"

namespace lockstep {

/// Warnings about kernels, of each place once.
class Warnings {
 public:
  explicit Warnings(PrintedLines::Sink sink) : sink_(std::move(sink)) {}

  void add(const std::string& where, const std::string& what) {
    if (std::find(warned_.begin(), warned_.end(), where) != warned_.end()) return;
    warned_.push_back(where);
    if (sink_) sink_(where + ": " + what);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(warned_);
  }

 private:
  const PrintedLines::Sink sink_;
  std::vector<std::string> warned_;
};

/// Records that the programs on all GPUs leave together.
struct HostLogs {
  KernelLog kernels;
  PrintedLines printed;
  Warnings warnings;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(kernels, printed, warnings);
  }
};

}  // namespace lockstep
