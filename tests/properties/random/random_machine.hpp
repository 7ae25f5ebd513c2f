/// Random small machines: every limit that can be tight is tight now and then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::testing {

/// `key=value` changes of the tiny GPU.
std::vector<std::string> random_machine(std::uint64_t seed);

/// Latencies and queue depths only, for machines whose size matters.
std::vector<std::string> random_latencies(std::uint64_t seed);

}  // namespace lockstep::testing
