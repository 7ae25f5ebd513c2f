/// The first-level data cache: tags, replacement order and its own copy of the bytes.
///
/// Lines of 128 bytes with four sectors, tagged by physical address, least recently used replaced
/// first within a set.  Dropping every clean global line (acquire, first block of a grid) only
/// counts up an epoch: lines of an older one read as absent.  Lines of local memory carry a mask of
/// dirty bytes and survive.
/// Source: gpu-parameters.md, section 7 (sectored, streaming or on-miss allocation);
/// architecture.md, section 8, rules 3, 4, 5 and 8.
///
/// Simplified: a line found through a hash, as if all ways were compared at once.  The
/// hash that chooses a set is in no publication: XOR of address parts, or a multiplicative one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/buckets.hpp"
#include "core/memory/warm.hpp"
#include "core/memory/zeroed.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/access/line_bytes.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

class L1Cache {
 public:
  static constexpr std::uint16_t none = 0xffff;

  struct Line {
    std::uint64_t tag = 0;  ///< physical address divided by 128
    SmCycle ready;          ///< cycle from which the youngest sector can be read
    std::uint32_t epoch = 0;
    std::uint16_t newer = none, older = none;   ///< replacement order within the set
    std::uint16_t chain = none, before = none;  ///< next and previous line of the bucket
    std::uint8_t valid = 0;                     ///< sectors
    bool used = false;
    bool local = false;
    bool reserved = false;  ///< an outstanding miss holds the line

    template <class A>
    void serialize(A& archive) {
      archive(tag, ready, epoch, newer, older, chain, before, valid, used, local, reserved);
    }
  };
  static_assert(sizeof(Line) == 32);

  L1Cache() = default;
  /// `scattered`: L1SetIndex::scattered.
  L1Cache(std::uint32_t most_lines, std::uint32_t sets, bool scattered = false);

  /// Changes the capacity; everything must have been dropped before.
  void resize(std::uint32_t lines);
  std::uint32_t lines() const { return lines_; }

  /// Returns the index of the line; `none` if it is absent or of an older epoch.
  std::uint16_t find(std::uint64_t tag) const {
    const std::uint16_t i = find_any(tag);
    return i != none && (meta_[i].local || meta_[i].epoch == epoch_) ? i : none;
  }
  /// Fetches into the cache the bucket at which find() begins.
  void warm_head(std::uint64_t tag) const { warm(&heads_[buckets_.of(tag)]); }
  void warm_line(std::uint16_t line) const {
    warm(&meta_[line]);
    warm(&data_[std::size_t{line} * line_bytes], line_bytes);
  }
  /// Prefetches the lines that fills of these up to 64 tags will replace, unless the tags are there
  /// already.
  void warm_victims(std::span<const std::uint64_t> tags) const;
  void touch(std::uint16_t line);

  /// Returns the line that `tag` would replace: its own stale line if there is one, otherwise the
  /// least recently used line without a reservation; `none` if all are reserved.
  std::uint16_t victim(std::uint64_t tag) const;
  /// Gives `line` (a victim whose dirty bytes have been written back) to `tag`, without sectors.
  void assign(std::uint16_t line, std::uint64_t tag, bool local);
  /// Forgets the line.
  void drop(std::uint16_t line);
  void drop_clean() { ++epoch_; }
  std::uint32_t epoch() const { return epoch_; }

  Line& line(std::uint16_t index) { return meta_[index]; }
  const Line& line(std::uint16_t index) const { return meta_[index]; }
  std::byte* data(std::uint16_t index) { return &data_[std::size_t{index} * line_bytes]; }
  LineBytes& dirty(std::uint16_t index) { return dirty_[index]; }
  const LineBytes& dirty(std::uint16_t index) const { return dirty_[index]; }
  bool is_dirty(std::uint16_t index) const {
    const LineBytes& d = dirty_[index];
    return meta_[index].local && (d[0] | d[1] | d[2] | d[3]) != 0;
  }

  void serialize(Archive& archive);

 private:
  struct Order {
    std::uint16_t newest = none, oldest = none;
    template <class A>
    void serialize(A& archive) {
      archive(newest, oldest);
    }
  };
  /// First line of a bucket.  Nearly all lookups end here: the print tells whether the tag of the
  /// first line can match, and there is seldom a second line.
  struct Head {
    std::uint16_t first = none;
    std::uint16_t print : 15 = 0;  ///< print of the first line's tag
    std::uint16_t more : 1 = 0;    ///< further lines follow
    template <class A>
    void serialize(A& archive) {
      std::uint16_t print_bits = print, more_bit = more;
      archive(first, print_bits, more_bit);
      print = print_bits & 0x7fffu;
      more = more_bit & 1u;
    }
  };
  static_assert(sizeof(Head) == 4);

  static std::uint16_t print_of(std::uint64_t tag) {
    return static_cast<std::uint16_t>((tag * 0x9e3779b97f4a7c15u) >> 49);
  }
  /// Returns the line with this tag, whatever its epoch.
  std::uint16_t find_any(std::uint64_t tag) const {
    const Head& head = heads_[buckets_.of(tag)];
    if (head.first == none) return none;
    std::uint16_t i = head.first;
    if (head.print == print_of(tag) && meta_[i].tag == tag) return i;
    if (!head.more) return none;
    do i = meta_[i].chain;
    while (i != none && meta_[i].tag != tag);
    return i;
  }
  void order_lines(std::uint32_t lines);
  std::uint32_t set_of(std::uint16_t line) const { return line & (sets_ - 1); }
  std::uint32_t set_of_tag(std::uint64_t tag) const;
  void unlink(std::uint16_t line);
  void link_newest(std::uint16_t line);
  void link_oldest(std::uint16_t line);
  void enchain(std::uint16_t line);
  void unchain(std::uint16_t line);

  std::uint32_t lines_ = 0, sets_ = 1;
  bool scattered_ = false;  ///< true: a hash chooses the set
  Buckets buckets_;
  std::uint32_t epoch_ = 0;
  std::vector<Line> meta_;
  std::vector<Head> heads_;
  std::vector<Order> order_;
  std::vector<LineBytes> dirty_;
  ZeroedVector<std::byte> data_;
};

}  // namespace lockstep
