#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/dispatch/dispatcher_bench.hpp"

namespace lockstep {

/// Two SMs with room for two small blocks each; grid 1 of an ordinary tenant fills them.
class PreemptionBench : public ::testing::Test {
 protected:
  void use(const std::string& preemption, std::uint32_t blocks = 6) {
    BenchOptions options;
    options.sms = 2;
    options.preemption = preemption;
    bench.emplace(options);
    bench->launch(0, {.grid = 1, .blocks = blocks});
    bench->run_until(200);
    bench->sent();
  }
  void urgent(double at, std::uint32_t blocks, std::uint32_t grid = 2) {
    bench->launch(at, {.grid = grid, .blocks = blocks, .tenant = 1, .priority = 1});
  }
  /// Without times and the starts of grids.
  std::vector<std::string> sent() {
    std::vector<std::string> lines;
    for (const std::string& line : bench->sent())
      if (line.find(" start ") == std::string::npos)
        lines.push_back(line.substr(line.find(' ') + 1));
    return lines;
  }
  std::optional<DispatcherBench> bench;
};

}  // namespace lockstep
