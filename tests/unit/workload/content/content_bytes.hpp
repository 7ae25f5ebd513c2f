#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/workload/content/content.hpp"
#include "models/workload/element.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::sample {

inline Buffer buffer(isa::Type type, std::uint64_t count, Initializer::Kind kind, double first = 0,
                     double second = 0, std::uint64_t seed = 1) {
  Buffer result;
  result.name = "b";
  result.type = type;
  result.count = count;
  result.initial.kind = kind;
  result.initial.where = "w.yaml:4:40";
  result.initial.first = first;
  result.initial.second = second;
  result.initial.seed = seed;
  return result;
}

inline std::vector<std::byte> bytes_of(const Buffer& buffer) {
  std::vector<std::byte> bytes(buffer.bytes());
  make_content(buffer)->read(0, bytes);
  return bytes;
}

inline std::vector<double> values_of(const Buffer& buffer) {
  const std::vector<std::byte> bytes = bytes_of(buffer);
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += isa::bytes_of(buffer.type)) {
    values.push_back(load_element(buffer.type, bytes.data() + at));
  }
  return values;
}

inline std::string content_error(const Buffer& buffer) {
  return message_of([&] { make_content(buffer); });
}

}  // namespace lockstep::sample
