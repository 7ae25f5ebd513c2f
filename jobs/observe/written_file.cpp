#include "jobs/observe/written_file.hpp"

#include <cerrno>
#include <cstring>

#include "core/error/error.hpp"
#include "core/error/file_advice.hpp"
#include "core/output/hdf5.hpp"

namespace lockstep {

std::string name_beside(const std::string& output_of_run, const std::string& ending) {
  const std::size_t own = output_of_run.ends_with(".h5") ? 3 : 0;
  return output_of_run.substr(0, output_of_run.size() - own) + ending;
}

WrittenFile::WrittenFile(const std::string& path) : path_(path), unfinished_(path + ".writing") {
  if (h5::is_hdf5(path)) {
    throw UserError(path, "is there and is an HDF5 file, which would be lost",
                    "choose another --output");
  }
  file_ = std::fopen(unfinished_.c_str(), "w");
  if (!file_) fail();
}

WrittenFile::~WrittenFile() {
  if (!file_) return;
  std::fclose(file_);
  std::remove(unfinished_.c_str());
}

void WrittenFile::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void WrittenFile::finish() {
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (closed && std::rename(unfinished_.c_str(), path_.c_str()) == 0) return;
  const int error = errno;
  std::remove(unfinished_.c_str());
  errno = error;
  fail();
}

void WrittenFile::fail() const {
  const std::string reason = std::strerror(errno);
  throw UserError(path_, "cannot be written: " + reason,
                  file_advice(reason, "free space there, or choose another --output"));
}

}  // namespace lockstep
