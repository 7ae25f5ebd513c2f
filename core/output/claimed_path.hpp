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

  /// Descriptor of the file, for reading and writing; -1 if it could not be opened.
  int file() const { return file_; }
  /// From now on other programs may read the file, but HDF5 lets none of them write it.
  void admit_readers() const;
  /// Throws UserError when something else, or nothing, stands at the path by now.
  void check() const;

 private:
  std::string path_;
  int file_;
};

}  // namespace lockstep
