#include "core/engine/mail/ranking.hpp"

#include <cstring>

namespace lockstep {
namespace {

template <std::size_t bytes>
[[gnu::always_inline]] inline void count_lesser(const RankKeys& keys, std::size_t count,
                                                RankKeys& ranks) {
  typedef std::int32_t Lanes [[gnu::vector_size(bytes)]];
  constexpr std::size_t block_bytes = ranked_at_once * sizeof keys[0];
  constexpr std::size_t vectors = block_bytes / bytes;
  for (std::size_t i = 0; i < count; i += ranked_at_once) {
    Lanes own[vectors], lesser[vectors]{};
    std::memcpy(&own, &keys[i], block_bytes);
    for (std::size_t block = 0; block < count; block += ranked_at_once) {
#pragma GCC unroll 16
      for (std::size_t j = 0; j < ranked_at_once; ++j) {
        const Lanes other = Lanes{} + keys[block + j];
        for (std::size_t k = 0; k < vectors; ++k) lesser[k] -= other < own[k];
      }
    }
    std::memcpy(&ranks[i], &lesser, block_bytes);
  }
}

void count_lesser_v2(const RankKeys& keys, std::size_t count, RankKeys& ranks) {
  count_lesser<16>(keys, count, ranks);
}
[[gnu::target("avx2")]] void count_lesser_v3(const RankKeys& keys, std::size_t count,
                                             RankKeys& ranks) {
  count_lesser<32>(keys, count, ranks);
}
[[gnu::target("avx512f")]] void count_lesser_v4(const RankKeys& keys, std::size_t count,
                                                RankKeys& ranks) {
  count_lesser<64>(keys, count, ranks);
}

}  // namespace

std::vector<CountLesser> lesser_counters() {
  std::vector<CountLesser> result{count_lesser_v2};
  if (__builtin_cpu_supports("avx2")) result.push_back(count_lesser_v3);
  if (__builtin_cpu_supports("avx512f")) result.push_back(count_lesser_v4);
  return result;
}

}  // namespace lockstep
