#include "models/workload/recording/recording.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

std::vector<std::string> texts(const h5::File& file, const char* path) {
  const h5::ElementType type = file.type(path);
  const std::uint64_t count = file.shape(path).front();
  const std::vector<std::byte> bytes = file.read(path, 0, count);
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* text = reinterpret_cast<const char*>(bytes.data()) + i * type.bytes;
    result.emplace_back(text, strnlen(text, type.bytes));
  }
  return result;
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
    if (written != version) fail("is a recording of version " + std::to_string(written));
  }
  kernels_ = texts(file_, kernels);
  steps_ = open(recording_format::steps, sizeof(RecordedStep), step_rows);
  arguments_ = open(recording_format::arguments, 1, argument_bytes);
  parts_ = open(parts, sizeof(std::uint64_t), part_rows);
  blocks_ = open(blocks, block_bytes, 1);
  if (file_.has(recording_format::inexact))
    inexact_ = open(recording_format::inexact, sizeof(RecordedFloats), inexact_rows);
}

Recording::Window Recording::open(const char* path, std::uint64_t row_bytes,
                                  std::uint64_t piece_rows) const {
  return {path, row_bytes, piece_rows, file_.shape(path).front(), 0, 0, {}};
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
