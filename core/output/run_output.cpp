#include "core/output/run_output.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"
#include "core/output/durable.hpp"
#include "core/output/superblock.hpp"

namespace lockstep {
namespace {

/// Ending of the name of a file that not everybody can read yet.
constexpr const char* starting = ".starting";

/// Returns the name of the copy to which tables and buffers are added.
std::string copy_of(const std::string& place) {
  return place + ".finishing";
}

/// Returns the length that a file of the process may have, in bytes.
std::uint64_t longest_file() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

[[noreturn]] void fail_to_write(const std::string& path, const std::string& what, int error) {
  const std::string reason = std::strerror(error);
  throw UserError(
      path, what + ": " + reason,
      file_advice(reason, "free space on that file system, or choose another with --output"));
}

/// Sets the length of the file to the end of its last object. If the file cannot become that long,
/// the old end stays.
void settle(int descriptor, const h5::File& file) {
  const std::uint64_t end = file.size();
  const off_t length = lseek(descriptor, 0, SEEK_END);
  if (std::cmp_less(length, end) && ftruncate(descriptor, off_t(end)) != 0) return;
  // The order matters: a file longer than its superblock says is valid.
  if (publish_superblock(descriptor, end)) static_cast<void>(!ftruncate(descriptor, off_t(end)));
}

/// Tries to create a file in the folder now, so that a failure does not come at the end of a long
/// run.
void try_copy(const std::string& path, const std::string& copy) {
  const int descriptor = open(copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_to_write(path, "cannot create a file beside it", errno);
  ::close(descriptor);
  if (unlink(copy.c_str()) != 0) fail_to_write(path, "cannot remove a file beside it", errno);
}

std::string existing(const std::string& path) {
  std::error_code absent;
  const std::filesystem::path place = std::filesystem::canonical(path, absent);
  if (!absent) return place.string();
  throw UserError(path, "is not there, and should hold what the run wrote before the checkpoint",
                  "name it with --output, or start the run anew");
}

/// Returns the name under which the output is begun; removes a file that a killed process left
/// there.
std::string place_to_start(const std::string& place) {
  std::error_code absent;
  std::filesystem::remove(place + starting, absent);
  return place + starting;
}

}  // namespace

RunOutput::RunOutput(const std::string& path)
    : path_(path),
      old_claim_(path, ClaimedPath::Use::emptied),
      place_(existing(path)),
      claim_((try_copy(path, copy_of(place_)), place_to_start(place_)), ClaimedPath::Use::emptied),
      file_(h5::File::create(place_ + starting, path)) {
  describe();
}

RunOutput::RunOutput(const std::string& path, Resumed)
    : path_(path),
      old_claim_((existing(path), path), ClaimedPath::Use::left),
      place_(existing(path)),
      before_(h5::File::open_to_read(path)),
      claim_(place_to_start(place_), ClaimedPath::Use::emptied),
      file_(h5::File::create(place_ + starting, path)) {
  describe();
}

void RunOutput::describe() {
  file_.set_attribute("/", "file type", std::string("lockstep run"));
  // The version is raised when a reader of the old layout could misread the new one.
  file_.set_attribute("/", "file version", std::uint64_t{1});
  file_.create_group("/run");
}

/// Unfinished files stay open until the end of the process: closing them would make the library
/// write once more, for which a full disk has no room.  A file that was still being created is
/// useless, and is removed with its claim.
RunOutput::~RunOutput() {
  std::error_code ignored;
  if (phase_ == Phase::alone && file_.is_open()) {
    file_.abandon();
  }
  if (phase_ == Phase::alone) return;
  try {
    if (phase_ == Phase::epochs) settle(claim_.file(), file_);
  } catch (const UserError&) {
    // The code that ended the run reports why.
  }
  if (phase_ == Phase::finishing) std::filesystem::remove(copy_of(place_), ignored);
  file_.abandon();
  watched_.abandon();
}

void RunOutput::write_config(const std::string& yaml) {
  file_.write_text("/config", yaml);
  file_.set_attribute("/config", "description",
                      std::string("the resolved configuration: every parameter with its unit"));
}

void RunOutput::start() {
  file_.start_swmr();
  claim_.admit_readers();
  make_room(0);
  old_claim_.check();
  if (!claim_.set_aside()) fail_to_write(path_, "cannot write", errno);
  claim_.rename(place_, path_);
  before_ = {};
  phase_ = Phase::epochs;
}

void RunOutput::reach_disk() const {
  if (fsync(claim_.file()) != 0) fail_to_write(path_, "cannot write", errno);
}

/// The new end is published before anything is written beyond the old one.  The rest is a hole,
/// which takes no space.
void RunOutput::make_room(std::uint64_t bytes) {
  claim_.check();
  const std::uint64_t end = std::min(file_.size() + bytes, longest_file());
  if (end <= end_) return;
  if (ftruncate(claim_.file(), off_t(end)) != 0) fail_to_write(path_, "cannot write", errno);
  publish_superblock(claim_.file(), end);
  end_ = end;
}

/// The epochs are not touched from here on.
void RunOutput::finish_epochs() {
  claim_.check();
  claim_.use_set_aside();
  settle(claim_.file(), file_);
  watched_ = std::move(file_);
  phase_ = Phase::finishing;
  if (!copy_whole(place_, copy_of(place_))) fail_to_write(path_, "cannot write", errno);
  file_ = h5::File::open(copy_of(place_), path_);
}

void RunOutput::write_final(const std::string& name, const std::string& unit,
                            const std::string& doc, std::uint64_t value) {
  const std::string path = "/final/" + name;
  file_.write_array(path, h5::Scalar::u64, {}, &value);
  file_.set_attribute(path, "unit", unit);
  file_.set_attribute(path, "description", doc);
}

void RunOutput::write_final(const std::string& name, const std::string& unit,
                            const std::string& doc, const std::string& value) {
  const std::string path = "/final/" + name;
  file_.write_text(path, value);
  file_.set_attribute(path, "unit", unit);
  file_.set_attribute(path, "description", doc);
}

void RunOutput::write_buffer(const std::string& tenant, const std::string& name, h5::Scalar type,
                             const std::vector<std::uint64_t>& shape,
                             std::span<const std::byte> data) {
  file_.write_array("/buffers/" + tenant + "/" + name, type, shape, data.data());
}

void RunOutput::set_run(const std::string& name, const std::string& value) {
  file_.set_attribute("/run", name, value);
}
void RunOutput::set_run(const std::string& name, std::uint64_t value) {
  file_.set_attribute("/run", name, value);
}
void RunOutput::set_run(const std::string& name, double value) {
  file_.set_attribute("/run", name, value);
}

void RunOutput::close() {
  file_.close();
  if (phase_ == Phase::alone) return claim_.rename(place_, path_);  // the file has no readers
  claim_.check();
  const std::string copy = copy_of(place_);
  if (!take_name(copy, place_)) fail_to_write(path_, "cannot write", errno);
  phase_ = Phase::alone;
  watched_ = {};
}

}  // namespace lockstep
