#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"

namespace lockstep {

/// Returns the bytes of an archive of the value, to be sent to another rank.
template <class T>
std::vector<std::byte> packed(T value) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  archive(value);
  const std::string text = out.str();
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

template <class T>
T unpacked(const std::vector<std::byte>& bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  Archive archive = Archive::restoring(in);
  T value;
  archive(value);
  return value;
}

}  // namespace lockstep
