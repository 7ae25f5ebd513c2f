#include "core/checkpoint/archive.hpp"

#include <istream>
#include <ostream>

#include "core/error/error.hpp"

namespace lockstep {

void Archive::bytes(void* data, std::size_t size) {
  const auto length = static_cast<std::streamsize>(size);
  if (output_) {
    if (output_->rdbuf()->sputn(static_cast<const char*>(data), length) != length)
      throw UserError("", "the checkpoint cannot be written");
  } else if (input_->rdbuf()->sgetn(static_cast<char*>(data), length) != length) {
    throw UserError("", "the checkpoint ends too early");
  }
}

std::size_t Archive::size(std::size_t size) {
  std::uint64_t count = size;
  bytes(&count, sizeof count);
  return count;
}

void Archive::parts(std::string& text) {
  text.resize(size(text.size()));
  bytes(text.data(), text.size());
}

void Archive::parts(std::vector<bool>& values) {
  values.resize(size(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    bool value = values[i];
    one(value);
    values[i] = value;
  }
}

}  // namespace lockstep
