#pragma once

#include <string>

#include "core/parameters/document.hpp"
#include "models/host/workload.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::sample {

/// Four buffers of 16 elements, one of them of each memory and a twin of `a`; the program starts in
/// line 9, column 3.
inline std::string workload_text(const std::string& program) {
  return "module: sample.ptx\n"
         "parameters: {n: 16, half: n / 2}\n"
         "buffers:\n"
         "  a: {type: f32, count: n, memory: device}\n"
         "  twin: {type: f32, count: n, memory: device}\n"
         "  m: {type: u32, count: n, memory: managed}\n"
         "  p: {type: i64, count: n, memory: pinned}\n"
         "program:\n" +
         program;
}

inline Workload read(const std::string& text, const std::string& overrides = "") {
  const Node document = parse_document(text, "w.yaml");
  return read_workload(document, overrides.empty() ? Node() : parse_document(overrides, "s.yaml"));
}

inline Workload with_program(const std::string& program) {
  return read(workload_text(program));
}

inline std::string error_of(const std::string& text, const std::string& overrides = "") {
  return message_of([&] { read(text, overrides); });
}

inline std::string program_error(const std::string& program) {
  return error_of(workload_text(program));
}

}  // namespace lockstep::sample
