#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace lockstep {

/// Takes numbers from the front of an input; zeros when it is used up.
class Cursor {
 public:
  explicit Cursor(const std::string& bytes) : bytes_(bytes) {}

  template <class Number>
  Number take() {
    Number number{};
    const std::size_t size = std::min(sizeof number, bytes_.size() - at_);
    std::memcpy(&number, bytes_.data() + at_, size);
    at_ += size;
    return number;
  }
  std::size_t below(std::size_t count) { return take<unsigned char>() % count; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::string rest() { return bytes_.substr(std::exchange(at_, bytes_.size())); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// A file of this process in memory, written anew by each input.
inline std::string scratch_file(const std::string& ending) {
  return "/dev/shm/lockstep-fuzz-" + std::to_string(getpid()) + ending;
}

}  // namespace lockstep
