#include "models/workload/recording/recording.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Returns the number of rows of a table whose rows are copied as they are stored.
template <class Row>
std::uint64_t count_rows(const h5::File& file, const char* path) {
  const h5::ElementType type = file.type(path);
  const std::vector<h5::Member> own = Row::members();
  const auto is_same = [](const h5::Member& a, const h5::Member& b) {
    return a.name == b.name && a.type == b.type && a.offset == b.offset;
  };
  if (type.description.empty() || type.bytes != sizeof(Row) || file.shape(path).size() != 1 ||
      !std::equal(type.members.begin(), type.members.end(), own.begin(), own.end(), is_same))
    file.refuse(path, "is no table of such rows");
  return file.rows(path);
}

std::optional<isa::MatrixArithmetic> arithmetic_named(const std::string& name) {
  using isa::MatrixArithmetic;
  for (unsigned a = 0; a <= static_cast<unsigned>(MatrixArithmetic::blackwell); ++a)
    if (name == isa::name_of(static_cast<MatrixArithmetic>(a)))
      return static_cast<MatrixArithmetic>(a);
  return std::nullopt;
}

}  // namespace

Recording::Recording(const std::string& file, const std::string& where) : file_name_(file) {
  using namespace recording_format;
  const auto fail = [&](const std::string& what) {
    throw UserError(where, file + " " + what, "write it anew with lockstep capture");
  };
  if (!h5::is_hdf5(file)) fail("is no recording");
  file_ = h5::File::open_to_read(file);
  for (const char* path :
       {recording_format::steps, kernels, recording_format::arguments, parts, blocks})
    if (!file_.has(path)) fail(std::string("is no whole recording: it has no ") + path);
  for (const h5::Attribute& attribute : file_.attributes(recording_format::steps)) {
    std::uint64_t written = 0;
    if (attribute.name != "version" || attribute.data.size() != sizeof written) continue;
    std::memcpy(&written, attribute.data.data(), sizeof written);
    has_devices_ = written == version_of_devices;
    if (written != version && !has_devices_)
      fail("is a recording of version " + std::to_string(written));
  }
  try {
    kernels_ = file_.texts(kernels);
    if (file_.has(recording_format::arithmetic)) {
      const std::vector<std::string> names = file_.texts(recording_format::arithmetic);
      if (names.size() == 1) arithmetic_ = arithmetic_named(names[0]);
      if (!arithmetic_) file_.refuse(recording_format::arithmetic, "names no tensor cores");
    }
    steps_ = {recording_format::steps, sizeof(RecordedStep), step_rows,
              count_rows<RecordedStep>(file_, recording_format::steps)};
    arguments_ = open(recording_format::arguments, h5::Scalar::u8, {}, argument_bytes);
    parts_ = open(parts, h5::Scalar::u64, {}, part_rows);
    blocks_ = open(blocks, h5::Scalar::u8, {block_bytes}, 1);
    if (file_.has(recording_format::inexact))
      inexact_ = {recording_format::inexact, sizeof(RecordedFloats), inexact_rows,
                  count_rows<RecordedFloats>(file_, recording_format::inexact)};
  } catch (const UserError&) {
    fail("is no whole recording: its data sets have other types or shapes");
  }
}

Recording::Window Recording::open(const char* path, h5::Scalar type, const h5::Shape& row,
                                  std::uint64_t piece_rows) const {
  std::uint64_t row_bytes = h5::size_of(type);
  for (const std::uint64_t side : row) row_bytes *= side;
  return {path, row_bytes, piece_rows, file_.rows_of(path, type, row)};
}

std::span<const std::byte> Recording::rows(const Window& window, std::uint64_t row) const {
  if (row >= window.length)
    throw UserError(file_name_, "ends before row " + std::to_string(row) + " of " + window.path,
                    "write it anew with lockstep capture");
  if (row - window.first >= window.count) {
    window.first = row - row % window.piece_rows;
    window.count = std::min(window.piece_rows, window.length - window.first);
    window.bytes = file_.read(window.path, window.first, window.count);
    LOCKSTEP_CHECK(window.bytes.size() >= window.count * window.row_bytes,
                   "rows of " + window.path + " of a recording are short");
  }
  return std::span(window.bytes).subspan((row - window.first) * window.row_bytes);
}

RecordedStep Recording::step(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  RecordedStep step;
  std::memcpy(&step, rows(steps_, number).data(), sizeof step);
  if (step.kind < RecordedStep::kinds) return step;
  throw UserError(file_name_, "has a step of an unknown kind, " + std::to_string(step.kind),
                  "replay it with the version that recorded it");
}

const std::string& Recording::kernel(const RecordedStep& step) const {
  if (step.kernel < kernels_.size()) return kernels_[step.kernel];
  throw UserError(file_name_, "launches a kernel that it does not name",
                  "write it anew with lockstep capture");
}

std::vector<std::byte> Recording::arguments(const RecordedStep& step) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::byte> result;
  while (result.size() < step.bytes) {
    const auto piece = rows(arguments_, step.data + result.size());
    const std::size_t count = std::min<std::size_t>(piece.size(), step.bytes - result.size());
    result.insert(result.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return result;
}

std::optional<RecordedData> Recording::data_of(std::uint64_t number) const {
  if (number >= steps()) return std::nullopt;
  const RecordedStep found = step(number);
  return found.has_data() ? std::optional(RecordedData{found.data, found.bytes}) : std::nullopt;
}

std::vector<isa::InexactFloats> Recording::inexact(const RecordedData& data) const {
  const std::lock_guard lock(mutex_);
  const auto row = [&](std::uint64_t number) {
    RecordedFloats floats;
    std::memcpy(&floats, rows(inexact_, number).data(), sizeof floats);
    return floats;
  };
  std::uint64_t first = 0;
  for (std::uint64_t end = inexact_.length; first < end;) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (row(middle).data < data.first_part) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  std::vector<isa::InexactFloats> result;
  for (; first < inexact_.length; ++first) {
    const RecordedFloats found = row(first);
    if (found.data != data.first_part) break;
    if (found.type >= std::size(RecordedFloats::types))
      throw UserError(file_name_, "has floats of an unknown type",
                      "replay it with the version that recorded it");
    result.push_back({found.offset, found.count, RecordedFloats::types[found.type], found.tolerance,
                      found.magnitude});
  }
  return result;
}

void Recording::read(const RecordedData& data, std::uint64_t offset,
                     std::span<std::byte> to) const {
  using recording_format::block_bytes;
  LOCKSTEP_CHECK(offset + to.size() <= data.bytes, "data behind the end of a recorded copy");
  const std::lock_guard lock(mutex_);
  while (!to.empty()) {
    std::uint64_t block = 0;
    std::memcpy(&block, rows(parts_, data.first_part + offset / block_bytes).data(), sizeof block);
    const std::uint64_t within = offset % block_bytes;
    const std::size_t count = std::min<std::size_t>(to.size(), block_bytes - within);
    std::memcpy(to.data(), rows(blocks_, block).data() + within, count);
    offset += count;
    to = to.subspan(count);
  }
}

}  // namespace lockstep
