#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace lockstep {

/// Claim of an output file's path by one process: two runs that write the same file leave an
/// unreadable one.
class ClaimedPath {
 public:
  /// Treatment of an existing file.  Emptying it would mislead its readers.
  enum class Use : std::uint8_t { emptied, left };

  /// Claims the path.  Throws UserError when the path cannot be opened, when another process has
  /// claimed it or reads the file, or when the file is no output (but a scenario, say).
  ClaimedPath(const std::string& path, Use use);
  /// Removes a file that was made for the claim, unless it was kept.
  ~ClaimedPath();
  ClaimedPath(const ClaimedPath&) = delete;
  ClaimedPath& operator=(const ClaimedPath&) = delete;

  /// Returns the descriptor of the file, for reading and writing.
  int file() const { return file_; }
  /// Lets other programs read the file from now on; HDF5 still lets none of them write it.
  void admit_readers() const;
  /// Renames the file to `place`; it stays claimed as `path`, which leads there.
  void rename(const std::string& place, const std::string& path);
  /// Reserves descriptors that the end of the file will need, so that a run fails before it begins
  /// rather than at its end.  Returns false, and sets errno, if there are none.
  bool set_aside();
  void use_set_aside();
  /// A file that was made for the claim stays.
  void keep() { is_new_ = false; }
  /// Returns whether some process has claimed the path.
  static bool is_claimed(const std::string& path);
  /// Throws UserError when the path now leads to another file, or to none.
  void check() const;

 private:
  /// Returns whether the path still leads to the file that was claimed.
  bool is_there() const;
  void leave();

  std::string path_;
  int file_;
  bool is_new_ = false;
  std::array<int, 2> aside_{-1, -1};
};

}  // namespace lockstep
