#pragma once

#include "core/parameters/parameters.hpp"

/// A parameter struct with one field of each type, for the tests of this folder.
namespace lockstep::sample {

using namespace lockstep::literals;

enum class WritePolicy : std::uint8_t { back, through };

struct TreeParameters {
  double threshold = 0;
  static auto schema() {
    return parameters<TreeParameters>().field("threshold", &TreeParameters::threshold, 0.5,
                                              range(0, 1), "share of a node that must be valid");
  }
};

inline const PolicyList& prefetchers() {
  static const PolicyList list{{"none", "never prefetches", nullptr},
                               {"tree", "a binary tree of 2 MiB", &schema_of<TreeParameters>()}};
  return list;
}

struct CacheParameters {
  Bytes size;
  Cycles hit_latency;
  std::uint32_t mshrs = 0;
  WritePolicy write = WritePolicy::back;
  bool sectored = false;
  static auto schema() {
    return parameters<CacheParameters>()
        .field("size", &CacheParameters::size, 96_KiB, range(4_KiB, 64_MiB), "capacity of a slice")
        .field("hit_latency", &CacheParameters::hit_latency, 30_cycles, at_least(1_cycles),
               "tag to data")
        .field("mshrs", &CacheParameters::mshrs, 64, range(1, 4096).powers_of_two(),
               "outstanding missed lines", "lines")
        .field("write", &CacheParameters::write, WritePolicy::back, choice({"back", "through"}),
               "what a store does")
        .field("sectored", &CacheParameters::sectored, true, "fills sectors, not lines");
  }
};

struct MachineParameters {
  CacheParameters l1, l2;
  Frequency clock;
  Bandwidth bandwidth;
  Time fault_cost;
  std::int32_t bias = 0;
  std::uint64_t seed = 0;
  std::string name;
  std::vector<std::uint32_t> hash_bits;
  std::vector<double> shares;
  PolicyChoice prefetcher;
  static auto schema() {
    return parameters<MachineParameters>()
        .required("name", &MachineParameters::name, "what reports call this machine")
        .group("l1", &MachineParameters::l1, "first level")
        .group("l2", &MachineParameters::l2, "second level")
        .field("clock", &MachineParameters::clock, 1312_MHz, range(1_MHz, 5000_MHz), "core clock")
        .field("bandwidth", &MachineParameters::bandwidth, Bandwidth{16e9}, at_least(Bandwidth{1}),
               "of the host link")
        .field("fault_cost", &MachineParameters::fault_cost, 45_us, at_most(1_ms), "host time")
        .field("bias", &MachineParameters::bias, -3, range(-10, 10), "may be negative")
        .field("seed", &MachineParameters::seed, 1, at_least(0), "of the random numbers")
        .field("hash_bits", &MachineParameters::hash_bits, {1, 2}, range(0, 63), "address bits")
        .field("shares", &MachineParameters::shares, {}, range(0, 1), "one per tenant")
        .policy("prefetcher", &MachineParameters::prefetcher, "none", prefetchers, "what comes too")
        .check([](const MachineParameters& m) -> std::string {
          return m.l1.size > m.l2.size ? "l1.size is larger than l2.size - lower it" : "";
        });
  }
};

}  // namespace lockstep::sample
