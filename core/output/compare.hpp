#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// How two output files differ outside /run.
struct FileComparison {
  bool equal = true;
  /// A sentence on the earliest differing epoch with its first component and counter, or on other
  /// differences.
  std::string first_difference;
  /// The largest differences, one line per data set, largest first.
  std::vector<std::string> largest;
  /// Data that were left out, and why; "": none.
  std::string note;

  /// Returns the whole comparison as text.
  std::string text() const;
};

/// Compares every data set and attribute outside /run, byte for byte; digests of --check if both
/// have some.
FileComparison compare_files(const std::string& a, const std::string& b);

}  // namespace lockstep
