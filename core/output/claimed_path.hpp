#pragma once

#include <string>

namespace lockstep {

/// The place of an output file, for one process at a time: two runs that write the same file leave
/// one that nobody can read.
class ClaimedPath {
 public:
  /// Throws UserError when another process has claimed the path or reads the file, or when
  /// something else than an output stands there (a scenario, say), which would be lost.
  explicit ClaimedPath(const std::string& path);
  ~ClaimedPath();
  ClaimedPath(const ClaimedPath&) = delete;
  ClaimedPath& operator=(const ClaimedPath&) = delete;

 private:
  int file_;
};

}  // namespace lockstep
