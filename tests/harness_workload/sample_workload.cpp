#include "tests/harness_workload/sample_workload.hpp"

#include "core/parameters/document.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::sample {

std::string workload_text(const std::string& program) {
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

Workload read(const std::string& text, const std::string& overrides) {
  const Node document = parse_document(text, "w.yaml");
  return read_workload(document, overrides.empty() ? Node() : parse_document(overrides, "s.yaml"));
}

Workload with_program(const std::string& program) {
  return read(workload_text(program));
}

std::string error_of(const std::string& text, const std::string& overrides) {
  return message_of([&] { read(text, overrides); });
}

std::string program_error(const std::string& program) {
  return error_of(workload_text(program));
}

}  // namespace lockstep::sample
