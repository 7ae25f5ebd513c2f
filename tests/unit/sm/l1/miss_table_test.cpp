#include "models/sm/l1/miss_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lockstep::miss_table_test {
namespace {

/// Few buckets for many tags, so that entries share buckets and leave them in every order.
TEST(MissTable, FindsExactlyTheOpenEntries) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    MissTable table(8);
    std::map<std::uint64_t, std::uint16_t> open;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t tag = random() % 60;
      const auto known = open.find(tag);
      ASSERT_EQ(table.find(tag), known == open.end() ? MissTable::none : known->second)
          << "seed " << seed << " step " << step;
      if (known != open.end()) {
        if (random() % 2 == 0) table.close(known->second);
        table.give_back_waiter(table[known->second].first);
        table.give_back(known->second);
        open.erase(known);
      } else if (!table.full()) {
        open[tag] = table.take({.tag = tag, .open = true}, table.take_waiter());
      }
      ASSERT_EQ(table.used(), open.size());
    }
  }
}

}  // namespace
}  // namespace lockstep::miss_table_test
