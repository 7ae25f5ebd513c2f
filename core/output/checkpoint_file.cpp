#include "core/output/checkpoint_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/checkpoint/checksum.hpp"
#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"
#include "core/error/input_file.hpp"
#include "core/output/durable.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t format = 1;
constexpr const char* file_type = "lockstep checkpoint";

std::string unfinished(const std::string& path) {
  return path + ".writing";
}
std::string data_of(const std::string& part) {
  return "/parts/" + part;
}
std::string sums_of(const std::string& part) {
  return "/checksums/" + part;
}

bool is_there(const std::string& path) {
  std::error_code absent;
  return std::filesystem::exists(path, absent);
}

bool says_checkpoint(const std::vector<h5::Attribute>& attributes) {
  for (const h5::Attribute& attribute : attributes) {
    if (attribute.name != "file type") continue;
    return attribute.data.size() == std::strlen(file_type) &&
           std::memcmp(attribute.data.data(), file_type, attribute.data.size()) == 0;
  }
  return false;
}

/// Returns whether the file may be a checkpoint. A damaged one counts, too: an HDF5 file of no
/// other recognisable kind.
bool may_be_checkpoint(const std::string& path) {
  std::error_code absent;
  if (std::filesystem::file_size(path, absent) == 0) return true;
  if (absent || !h5::is_hdf5(path)) return false;
  try {
    return says_checkpoint(h5::File::open_to_read(path).attributes("/"));
  } catch (const UserError&) {
    return true;
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  const std::string older = previous_checkpoint(path);
  throw UserError(
      path, what,
      is_there(older) ? "there is an older one: --resume " + older : "start the run anew");
}

}  // namespace

std::string previous_checkpoint(const std::string& path) {
  return path + ".previous";
}

void remove_checkpoint(const std::string& path) {
  std::error_code absent;
  std::filesystem::remove(unfinished(path), absent);
  // The newest file comes last: a process killed in between leaves one to resume from, which later
  // removes the others.
  for (const std::string& file : {previous_checkpoint(path), path})
    if (is_there(file) && may_be_checkpoint(file)) std::filesystem::remove(file, absent);
}

void require_place_of_checkpoint(const std::string& path) {
  if (is_there(path) && !may_be_checkpoint(path)) {
    throw UserError(path, "is there and is no checkpoint of lockstep, which would replace it",
                    "choose another --output or remove the file");
  }
}

CheckpointWriter::CheckpointWriter(const std::string& path)
    : path_((require_place_of_checkpoint(path), path)),
      file_(h5::File::create(unfinished(path), path)) {
  describe("file type", file_type);
  file_.set_attribute("/", "format", format);
}

/// The library cannot close a file that a full disk has no room for: the file stays open, but
/// empty.
CheckpointWriter::~CheckpointWriter() {
  if (finished_) return;
  file_.abandon();
  further_.abandon();
  std::error_code ignored;
  std::filesystem::resize_file(unfinished(path_), 0, ignored);
  std::filesystem::remove(unfinished(path_), ignored);
}

void CheckpointWriter::describe(const std::string& name, const std::string& value) {
  file_.set_attribute("/", name, value);
}

void CheckpointWriter::begin(const std::string& part) {
  part_ = part;
  first_.clear();
  further_ = {};
  checksums_.clear();
}

/// Writes a chunk. Most parts have one chunk and get a data set of their size; only long ones are
/// given room by whole chunks.
void CheckpointWriter::write(std::span<const std::byte> chunk) {
  if (checksums_.empty()) {
    first_.assign(chunk.begin(), chunk.end());
  } else {
    if (checksums_.size() == 1) {
      further_ = file_.create_bytes(data_of(part_), PartWriter::chunk_bytes);
      further_.append(first_.data(), first_.size());
    }
    further_.append(chunk.data(), chunk.size());
  }
  checksums_.push_back(checksum(chunk));
}

void CheckpointWriter::end() {
  if (checksums_.size() <= 1) file_.write_bytes(data_of(part_), first_);
  further_.close();
  file_.write_array(sums_of(part_), h5::Scalar::u64, {checksums_.size()}, checksums_.data());
}

void CheckpointWriter::finish(bool keeps_previous) {
  file_.close();
  finished_ = true;
  const std::string previous = previous_checkpoint(path_);
  if (keeps_previous) {
    // The old file gets a second name first, so that a file has the usual name at any time.
    unlink(previous.c_str());
    if (link(path_.c_str(), previous.c_str()) != 0) rename(path_.c_str(), previous.c_str());
  }
  if (!take_name(unfinished(path_), path_)) {
    const std::string reason = std::strerror(errno);
    throw UserError(
        path_, "cannot write: " + reason,
        file_advice(reason, "free space on that file system, or choose another with --output"));
  }
}

CheckpointReader::CheckpointReader(const std::string& path) : path_(path) {
  if (const std::string reason = why_unreadable(path); !reason.empty())
    refuse(path, "cannot be read: " + reason);
  std::vector<h5::Attribute> attributes;
  try {
    file_ = h5::File::open_to_read(path);
    attributes = file_.attributes("/");
  } catch (const UserError&) {
    refuse(path, "is damaged, or no checkpoint of lockstep");
  }
  if (!says_checkpoint(attributes)) refuse(path, "is no checkpoint of lockstep");
  const auto number = std::find_if(attributes.begin(), attributes.end(),
                                   [](const h5::Attribute& a) { return a.name == "format"; });
  if (number == attributes.end() || number->data.size() != sizeof format ||
      std::memcmp(number->data.data(), &format, sizeof format) != 0)
    refuse(path, "is a checkpoint of another format than " + std::to_string(format));
}

void CheckpointReader::find(const std::string& part) {
  if (part == part_) return;
  part_.clear();
  try {
    const std::uint64_t bytes = file_.rows_of(data_of(part), h5::Scalar::u8, {});
    const std::uint64_t sums = file_.rows_of(sums_of(part), h5::Scalar::u64, {});
    const std::uint64_t chunk = PartWriter::chunk_bytes;
    if (sums != bytes / chunk + (bytes % chunk != 0)) refuse(path_, "is damaged");
    checksums_ = file_.words(sums_of(part), 0, sums);
    bytes_ = bytes;
  } catch (const UserError&) {
    refuse(path_, "is damaged, or of another version of lockstep: it has no whole " + part);
  }
  part_ = part;
}

std::vector<char> CheckpointReader::read(const std::string& part, std::size_t index) {
  find(part);
  if (index >= checksums_.size()) return {};
  const std::uint64_t begin = index * PartWriter::chunk_bytes;
  std::vector<std::byte> bytes;
  try {
    bytes = file_.read(data_of(part), begin,
                       std::min<std::uint64_t>(PartWriter::chunk_bytes, bytes_ - begin));
  } catch (const UserError&) {
    refuse(path_, "is damaged: " + part + " cannot be read");
  }
  if (checksum(bytes) != checksums_[index])
    refuse(path_, "is damaged: the bytes of " + part + " have another checksum");
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  return {first, first + bytes.size()};
}

std::uint64_t CheckpointReader::size(const std::string& part) {
  find(part);
  return bytes_;
}

std::uint64_t CheckpointReader::digest() {
  std::uint64_t sum = 0;
  const std::string parts = data_of("");
  for (const h5::Object& object : file_.objects()) {
    if (!object.is_dataset || !object.path.starts_with(parts)) continue;
    find(object.path.substr(parts.size()));
    checksums_.push_back(sum);
    sum = checksum(std::as_bytes(std::span(checksums_)));
    checksums_.pop_back();
  }
  return sum;
}

}  // namespace lockstep
