#include "core/checkpoint/archive.hpp"

#include <bit>
#include <istream>
#include <ostream>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are saved as they stand");

/// Stands before each section, so that a name is looked for only where one can be.
constexpr std::uint32_t section_mark = 0x54434553;  // "SECT"

}  // namespace

void Archive::section(const char* name, std::uint32_t version) {
  std::uint32_t mark = section_mark, saved_version = version;
  std::string saved_name = name;
  one(mark);
  const auto refuse = [&](const std::string& what) {
    throw UserError(owner_, what, "resume with the program that wrote it");
  };
  if (mark != section_mark) {
    refuse("the checkpoint's \"" + std::string(section_) + "\" does not end where \"" + name +
           "\" begins");
  }
  one(saved_name);
  one(saved_version);
  if (saved_name != name)
    refuse("the checkpoint has \"" + saved_name + "\", this program reads \"" + name + "\"");
  if (saved_version != version) {
    refuse("the checkpoint's \"" + saved_name + "\" has version " + std::to_string(saved_version) +
           ", this program reads " + std::to_string(version));
  }
  section_ = name;
  ++sections_;
}

void Archive::bytes(void* data, std::size_t size) {
  const auto length = static_cast<std::streamsize>(size);
  if (output_) {
    if (output_->rdbuf()->sputn(static_cast<const char*>(data), length) != length)
      throw UserError(owner_, "the checkpoint cannot be written", "free space where it stands");
  } else if (input_->rdbuf()->sgetn(static_cast<char*>(data), length) != length) {
    throw UserError(owner_, "the checkpoint ends too early",
                    "it is damaged: resume from an older one");
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
  for (auto&& entry : values) {
    bool value = entry;
    one(value);
    entry = value;
  }
}

}  // namespace lockstep
