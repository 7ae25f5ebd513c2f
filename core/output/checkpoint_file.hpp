#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/output/hdf5.hpp"

namespace lockstep {

/// A checkpoint on disk: an HDF5 file with a data set of bytes for each part, below /parts, and the
/// checksums of its chunks below /checksums.
///
/// The file is written beside its place and takes the name when all of it has reached the disk; the
/// old file is kept as `.previous`.  So a process killed at any moment leaves a readable
/// checkpoint.  Every failure to write is a UserError.
class CheckpointWriter final : public PartSink {
 public:
  /// Does not replace a file at `path` that is no checkpoint.
  explicit CheckpointWriter(const std::string& path);
  ~CheckpointWriter() override;
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Adds an attribute of the file, for readers.
  void describe(const std::string& name, const std::string& value);

  void begin(const std::string& part) override;
  void write(std::span<const std::byte> chunk) override;
  void end() override;
  /// `keeps_previous`: the file with the name is known to be good.
  void finish(bool keeps_previous);

 private:
  std::string path_;
  h5::File file_;
  std::string part_;  ///< name of the part that has begun
  /// First chunk of the part, until a second one comes or the part ends.
  std::vector<std::byte> first_;
  h5::Series further_;
  std::vector<std::uint64_t> checksums_;
  bool finished_ = false;
};

/// Reads a checkpoint of a CheckpointWriter.  Every failure is a UserError that names `.previous`
/// if there is one.
class CheckpointReader final : public PartSource {
 public:
  explicit CheckpointReader(const std::string& path);

  std::vector<char> read(const std::string& part, std::size_t index) override;
  std::uint64_t size(const std::string& part) override;
  /// Returns the digest of all parts; equal contents have equal digests.
  std::uint64_t digest();

 private:
  void find(const std::string& part);

  std::string path_;
  h5::File file_;
  std::string part_;  ///< name of the part that was read last
  std::uint64_t bytes_ = 0;
  std::vector<std::uint64_t> checksums_;
};

/// Returns the path of the checkpoint before the newest one.
std::string previous_checkpoint(const std::string& path);
/// Throws UserError if the path leads to another kind of file, which a checkpoint would replace.
void require_place_of_checkpoint(const std::string& path);
/// Removes all files of a checkpoint; other files stay.
void remove_checkpoint(const std::string& path);

}  // namespace lockstep
