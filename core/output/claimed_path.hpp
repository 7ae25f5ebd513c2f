#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace lockstep {

/// Claim of an output file's path by one process at a time: two runs that write the same file leave
/// one that cannot be read.
class ClaimedPath {
 public:
  /// Treatment of the file that is there: a reader of a file that is emptied would be misled.
  enum class Use : std::uint8_t { emptied, left };

  /// Throws UserError when the path cannot be opened, when another process has claimed it or reads
  /// the file, or when it has something else than an output (a scenario, say).
  ClaimedPath(const std::string& path, Use use);
  /// A file that was made for the claim goes with it, unless it was kept.
  ~ClaimedPath();
  ClaimedPath(const ClaimedPath&) = delete;
  ClaimedPath& operator=(const ClaimedPath&) = delete;

  /// Returns the descriptor of the file, for reading and writing.
  int file() const { return file_; }
  /// Lets other programs read the file from now on, but HDF5 lets none of them write it.
  void admit_readers() const;
  /// The file takes another name, `place`, and goes on to be claimed as `path`, which leads there.
  void rename(const std::string& place, const std::string& path);
  /// Descriptors that the end of the file will need are kept free of others until then: a run is
  /// to fail before it begins rather than when it is done.  False, and errno: there are none.
  bool set_aside();
  void use_set_aside();
  /// A file that was made for the claim stays.
  void keep() { is_new_ = false; }
  /// Returns whether some process has claimed the path.
  static bool is_claimed(const std::string& path);
  /// Throws UserError when the path has another file by now, or none.
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
