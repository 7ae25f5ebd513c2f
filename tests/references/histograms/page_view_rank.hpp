#pragma once

// Reference of the workload page_view_rank: record by record.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::page_view_rank {

/// As the kernel draws what a server is asked for.
inline unsigned scrambled(unsigned number) {
  number = (number ^ number >> 16) * 0x7feb352dU;
  number = (number ^ number >> 15) * 0x846ca68bU;
  return number ^ number >> 16;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto value = [&](const char* name) {
    return static_cast<unsigned>(integer(parameters, name));
  };
  const auto log = buffers.as<unsigned>("log"), rank = buffers.as<unsigned>("rank");
  const auto share = buffers.as<unsigned>("share"), length = buffers.as<unsigned>("length");
  const auto sum = buffers.as<unsigned>("sum");
  const unsigned stride = value("visited_records");
  for (unsigned server = 0; server < share.size(); ++server) {
    const unsigned drawn = scrambled(server) % 100;
    const bool visited = drawn < value("visited");
    const bool both = !visited && drawn < value("visited") + value("both");
    share[server] = visited ? 256 : both ? 128 : 0;
    length[server] = visited ? stride : value("other_records");
    for (unsigned record = 0; record < length[server]; ++record) {
      const unsigned asked = log[server * stride + record];
      const bool by_visitor = visited || (both && asked < 1U << 31);
      const unsigned walked = value("pages") / value("servers") * server + record;
      const unsigned page = by_visitor ? asked % value("front") : walked % value("pages");
      sum[32 * server + record % 32] += rank[page * value("page_words")];
    }
  }
}

}  // namespace lockstep::reference::page_view_rank
