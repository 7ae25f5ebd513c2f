/// Reading of data with a required type and shape, from files that anybody may have written.
#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"

namespace lockstep::h5 {
namespace {

std::string text_of(const std::byte* at, std::size_t length) {
  const auto* const begin = reinterpret_cast<const char*>(at);
  return {begin, strnlen(begin, length)};
}

}  // namespace

void File::refuse(const std::string& dataset, const std::string& what) const {
  throw UserError(path_, dataset + " " + what, "it may be damaged or no output of lockstep");
}

std::uint64_t File::rows(const std::string& dataset) const {
  const Shape there = shape(dataset);
  if (there.empty()) refuse(dataset, "is a single value, not a list");
  return there[0];
}

std::uint64_t File::rows_of(const std::string& dataset, Scalar type, const Shape& row) const {
  const ElementType there = this->type(dataset);
  const auto* const number = std::get_if<Scalar>(&there.number);
  if (number == nullptr || *number != type) refuse(dataset, "holds values of another type");
  const std::uint64_t count = rows(dataset);
  const Shape shape = this->shape(dataset);
  if (!std::equal(shape.begin() + 1, shape.end(), row.begin(), row.end()))
    refuse(dataset, "has another shape");
  return count;
}

std::vector<std::uint64_t> File::words(const std::string& dataset, std::uint64_t first,
                                       std::uint64_t count) const {
  const ElementType type = this->type(dataset);
  const auto* const number = std::get_if<Scalar>(&type.number);
  if (number == nullptr || size_of(*number) != sizeof(std::uint64_t))
    refuse(dataset, "does not hold numbers of 64 bits");
  const std::vector<std::byte> bytes = read(dataset, first, count);
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

std::uint64_t File::word(const std::string& dataset) const {
  const std::vector<std::uint64_t> all = words(dataset, 0, 1);
  if (all.size() != 1) refuse(dataset, "is not a single number");
  return all[0];
}

std::vector<std::string> File::texts(const std::string& dataset) const {
  const ElementType type = this->type(dataset);
  const Shape shape = this->shape(dataset);
  if (!type.is_text || type.bytes == 0) refuse(dataset, "does not hold texts of one length");
  if (shape.size() > 1) refuse(dataset, "has another shape");
  const std::vector<std::byte> bytes = read(dataset, 0, shape.empty() ? 1 : shape[0]);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < bytes.size(); at += type.bytes)
    texts.push_back(text_of(&bytes[at], type.bytes));
  return texts;
}

std::string File::text(const std::string& dataset) const {
  std::vector<std::string> all = texts(dataset);
  if (all.size() != 1) refuse(dataset, "is not a single text");
  return std::move(all[0]);
}

std::string File::text_attribute(const std::string& object, const std::string& name) const {
  for (const Attribute& attribute : attributes(object)) {
    if (attribute.name != name || !attribute.type.is_text || !attribute.shape.empty()) continue;
    return text_of(attribute.data.data(), attribute.data.size());
  }
  return "";
}

}  // namespace lockstep::h5
