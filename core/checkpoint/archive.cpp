#include "core/checkpoint/archive.hpp"

#include <algorithm>
#include <bit>
#include <istream>
#include <ostream>
#include <streambuf>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are saved as they stand");

/// Mark before each section, so that a name is looked for only at the begin of a section.
constexpr std::uint32_t section_mark = 0x54434553;  // "SECT"

/// Takes everything, and counts it.
class CountedBytes final : public std::streambuf {
 public:
  std::size_t count() const { return count_; }

 private:
  std::streamsize xsputn(const char*, std::streamsize size) override {
    count_ += static_cast<std::size_t>(size);
    return size;
  }
  int_type overflow(int_type next) override {
    ++count_;
    return traits_type::not_eof(next);
  }

  std::size_t count_ = 0;
};

/// Returns the number of bytes behind the present place; the largest number if the buffer cannot
/// tell.
std::uint64_t bytes_left(std::streambuf& bytes) {
  constexpr auto in = std::ios_base::in;
  const std::streamoff here = bytes.pubseekoff(0, std::ios_base::cur, in);
  const std::streamoff end = bytes.pubseekoff(0, std::ios_base::end, in);
  if (here < 0 || end < here) return ~std::uint64_t{0};
  bytes.pubseekpos(here, in);
  return static_cast<std::uint64_t>(end - here);
}

bool is_readable(const std::string& name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

Archive::Archive(std::ostream* out, std::istream* in, std::string owner)
    : output_(out),
      input_(in),
      owner_(std::move(owner)),
      left_(in ? bytes_left(*in->rdbuf()) : 0) {}

std::size_t Archive::measured(void (*save)(Archive&, void*), void* value) {
  CountedBytes counter;
  std::ostream out(&counter);
  Archive archive = saving(out);
  save(archive, value);
  return std::max<std::size_t>(counter.count(), 1);
}

void Archive::require(std::uint64_t count, std::uint64_t each) const {
  if (!is_saving() && count > left_ / each) {
    throw UserError(owner_, "the checkpoint ends too early",
                    "it is damaged: resume from an older one");
  }
}

void Archive::require_length(std::size_t restored, std::size_t must_be) const {
  if (restored != must_be) {
    throw UserError(owner_, "the checkpoint holds a list of another length",
                    "it is damaged: resume from an older one");
  }
}

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
    refuse("the checkpoint has " + (is_readable(saved_name) ? '"' + saved_name + '"' : "no name") +
           ", this program reads \"" + name + "\"");
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
    return;
  }
  if (size > left_ || input_->rdbuf()->sgetn(static_cast<char*>(data), length) != length)
    throw UserError(owner_, "the checkpoint ends too early",
                    "it is damaged: resume from an older one");
  left_ -= size;
}

std::size_t Archive::size(std::size_t size) {
  std::uint64_t count = size;
  bytes(&count, sizeof count);
  return count;
}

void Archive::parts(std::string& text) {
  text.resize(length<char>(text.size()));
  bytes(text.data(), text.size());
}

void Archive::parts(bool& value) {
  std::uint8_t byte = value ? 1 : 0;
  one(byte);
  if (byte > 1)
    throw UserError(owner_, "the checkpoint holds something else where yes or no stands",
                    "it is damaged: resume from an older one");
  value = byte != 0;
}

void Archive::parts(std::vector<bool>& values) {
  values.resize(length<bool>(values.size()));
  for (auto&& entry : values) {
    bool value = entry;
    one(value);
    entry = value;
  }
}

}  // namespace lockstep
