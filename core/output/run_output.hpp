#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/output/claimed_path.hpp"
#include "core/output/hdf5.hpp"
#include "core/output/table.hpp"

namespace lockstep {

/// The HDF5 file of a run (docs/output.md), in its three phases:
///
///   1. constructor, write_config(), a StatisticsRecorder: everything that grows is created, beside
///   the place;
///   2. start(): it takes the name, and readers may watch (SWMR) while the recorder appends epochs;
///   3. recorder.finish(), finish_epochs(): tables, final values, buffers and /run go to a copy
///   beside it; close() gives the copy the name.
///
/// Until start() the name leads to the older output, or to an empty file.  From then on every
/// program can read the file under the name, whenever this process ends: the epochs up to the last
/// flush, or all.  Every failure to write is a UserError and leaves the file readable.
class RunOutput {
 public:
  /// Creates the file, replacing an old output. Files of other kinds, and outputs that another run
  /// is writing, are not replaced.
  explicit RunOutput(const std::string& path);
  /// Selects a resumed run: the recorder copies the rows of the file so far, at `path`.
  struct Resumed {};
  RunOutput(const std::string& path, Resumed);
  ~RunOutput();
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  const std::string& path() const { return path_; }
  h5::File& file() { return file_; }
  /// Returns the output written before a resumed run, to be read until start().
  const h5::File& before() const { return before_; }
  /// Brings all flushed bytes to the disk before it returns.
  void reach_disk() const;

  /// Writes the resolved configuration, which holds no paths, ranks or threads.
  void write_config(const std::string& yaml);
  void start();
  /// Makes room for at most `bytes` bytes that will be appended. Throws UserError if the file lost
  /// its place.
  void make_room(std::uint64_t bytes);
  void finish_epochs();

  template <class Row>
  void write_table(const std::vector<Row>& rows, TableColumns columns = TableColumns::required) {
    write_table(table_schema_of<Row>(columns), rows.data(), rows.size());
  }
  void write_table(const TableSchema& schema, const void* rows, std::size_t count);

  /// Writes /final/<name>.
  void write_final(const std::string& name, const std::string& unit, const std::string& doc,
                   std::uint64_t value);
  void write_final(const std::string& name, const std::string& unit, const std::string& doc,
                   const std::string& value);

  /// Writes /buffers/<tenant>/<name>.
  void write_buffer(const std::string& tenant, const std::string& name, h5::Scalar type,
                    const std::vector<std::uint64_t>& shape, std::span<const std::byte> data);

  /// Sets a value below /run, which may differ between runs of the same scenario.
  void set_run(const std::string& name, const std::string& value);
  void set_run(const std::string& name, std::uint64_t value);
  void set_run(const std::string& name, double value);

  void close();

 private:
  void describe();

  std::string path_;
  /// Claim of the name and its file; in a resumed run, claim of the earlier file.
  ClaimedPath old_claim_;
  std::string place_;  ///< path of the output, with symbolic links followed
  h5::File before_;
  ClaimedPath claim_;
  h5::File file_;          ///< file being written: the epochs, later the copy
  h5::File watched_;       ///< file with the epochs, once there is a copy
  std::uint64_t end_ = 0;  ///< end of the epochs that readers know of
  enum class Phase : std::uint8_t { alone, epochs, finishing } phase_ = Phase::alone;
};

}  // namespace lockstep
