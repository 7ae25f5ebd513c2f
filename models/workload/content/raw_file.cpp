/// Initial content `file`: the first bytes of a raw little-endian file, page after page as needed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"

namespace lockstep {

namespace {

class RawFile final : public Content {
 public:
  explicit RawFile(const Buffer& buffer)
      : where_(buffer.initial.where),
        name_(buffer.initial.file),
        descriptor_(::open(name_.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail(std::strerror(errno));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (!S_ISREG(status.st_mode)) fail("it is no regular file");
    if (size < buffer.bytes()) {
      fail("it has " + std::to_string(size) + " bytes, buffer " + buffer.name + " needs " +
           std::to_string(buffer.bytes()));
    }
  }
  ~RawFile() override { close(); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw error(std::strerror(errno));
      if (count == 0) throw error("it became shorter during the run");
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  UserError error(const std::string& reason) const {
    return UserError(where_, "cannot read " + name_ + ": " + reason,
                     "name a file that holds the whole buffer");
  }
  /// Throws from the constructor, for which no destructor runs.
  [[noreturn]] void fail(const std::string& reason) {
    close();
    throw error(reason);
  }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string where_, name_;
  int descriptor_;
};

}  // namespace

std::shared_ptr<const Content> make_raw_file(const Buffer& buffer) {
  return std::make_shared<RawFile>(buffer);
}

}  // namespace lockstep
