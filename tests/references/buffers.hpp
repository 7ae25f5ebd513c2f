#pragma once

// What a reference works on: a workload's parameters and the content of its buffers, by name.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::reference {

using Parameters = std::map<std::string, double>;

/// Before run(): the initial content of every buffer of the workload. After it: the content that
/// the GPU's copy must have at the end, under the names that the last `swap` left.
struct Buffers {
  std::map<std::string, std::vector<std::byte>> bytes;

  template <class T>
  std::span<T> as(const std::string& name) {
    std::vector<std::byte>& content = bytes.at(name);
    return {reinterpret_cast<T*>(content.data()), content.size() / sizeof(T)};
  }

  void swap(const std::string& a, const std::string& b) { std::swap(bytes.at(a), bytes.at(b)); }
};

inline int integer(const Parameters& parameters, const std::string& name) {
  return static_cast<int>(parameters.at(name));
}

inline float real(const Parameters& parameters, const std::string& name) {
  return static_cast<float>(parameters.at(name));
}

}  // namespace lockstep::reference
