/// Keys of `cpu:` of a tenant: what a CPU core executes.
#pragma once

#include <string>

#include "core/parameters/parameters.hpp"

namespace lockstep {

/// Misses of a program in its caches.  Source: memory-interference.md, sections 1.4 and 4.5.
struct CpuTraffic {
  double misses = 0;  ///< lines read per thousand instructions
  /// Share of requests that find their row open, when the program runs alone.
  double row_locality = 0;
  /// Banks with reads of the program while there are any, when it runs alone.
  double bank_parallelism = 0;
  double write_share = 0;  ///< share of writes among all requests
};

/// Keys of a CPU program, in the order of /config of an output.
struct CpuKeys : CpuTraffic {
  static constexpr double of_profile = -1;
  static constexpr const char* of_profile_text = "the profile's";

  Bytes memory;         ///< memory that the program may touch
  std::string profile;  ///< name of the profile; "": the program is a trace
  std::string trace_file;

  static auto schema() {
    using namespace literals;
    using P = CpuKeys;
    return parameters<P>()
        .field("memory", &P::memory, 16_MiB, range(4_KiB, 1024_GiB),
               "memory that the core may touch, a multiple of a line of 64 bytes")
        .field("profile", &P::profile, "",
               "benchmark of SPEC CPU2006 whose misses it has, such as mcf; or trace")
        .field("trace", &P::trace_file, "",
               "file with a line for each miss (docs/workloads.md); or profile")
        .optional("misses", &P::misses, of_profile, of_profile_text, range(0.001, 500),
                  "lines read, in a thousand instructions", "lines")
        .optional("row_locality", &P::row_locality, of_profile, of_profile_text, range(0, 1),
                  "share of its requests that find their row open while it is alone")
        .optional("bank_parallelism", &P::bank_parallelism, of_profile, of_profile_text,
                  range(1, 64), "banks with reads of the core while it has any, alone", "banks")
        .optional("write_share", &P::write_share, of_profile, of_profile_text, range(0, 0.9),
                  "share of writes in all its requests")
        .only_if("misses row_locality bank_parallelism write_share", "with profile",
                 [](const P& p) { return !p.profile.empty(); })
        .check([](const P& p) -> std::string {
          if (p.profile.empty() == p.trace_file.empty())
            return std::string(p.profile.empty() ? "has neither a profile nor a trace"
                                                 : "has both a profile and a trace") +
                   " - give it one of them";
          return "";
        });
  }
};

}  // namespace lockstep
