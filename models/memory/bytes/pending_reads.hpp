/// Loads that have arrived and have no answer yet, by line.
///
/// A load returns the bytes of the moment when it arrives.  They are read only when the answer
/// leaves, so that no copy is stored meanwhile: code that is about to change a line first has them
/// read.
/// Source: architecture.md, section 8, rule 1; hot-path.md ("Footprint beats arithmetic").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/buckets.hpp"
#include "models/memory/bytes/transaction.hpp"

namespace lockstep {

class PendingReads {
 public:
  PendingReads() : heads_(buckets_.count(), Transaction::none) {}

  void add(TransactionPool& transactions, std::uint32_t index) {
    std::uint32_t& head = heads_[buckets_.of(transactions[index].line)];
    transactions[index].next_read = head;
    head = index;
    ++count_;
  }
  /// The load's bytes are read now.
  void remove(TransactionPool& transactions, std::uint32_t index) {
    std::uint32_t* place = &heads_[buckets_.of(transactions[index].line)];
    while (*place != index) place = &transactions[*place].next_read;
    unlink(transactions, place);
  }
  /// Calls read(index) for each pending read of the lines [first, last), and removes it.
  template <class Read>
  void take(TransactionPool& transactions, std::uint32_t first, std::uint32_t last, Read&& read) {
    if (count_ == 0) return;
    const bool in_all_buckets = last - first >= heads_.size();
    const std::size_t buckets = in_all_buckets ? heads_.size() : last - first;
    for (std::size_t i = 0; i < buckets; ++i) {
      std::uint32_t* place = &heads_[in_all_buckets ? i : buckets_.of(first + i)];
      while (*place != Transaction::none) {
        const std::uint32_t index = *place;
        const std::uint32_t line = transactions[index].line;
        if (first <= line && line < last) {
          unlink(transactions, place);
          read(index);
        } else {
          place = &transactions[index].next_read;
        }
      }
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(heads_, count_);
  }

 private:
  void unlink(TransactionPool& transactions, std::uint32_t* place) {
    Transaction& t = transactions[*place];
    *place = t.next_read;
    t.next_read = Transaction::has_read;
    --count_;
  }

  Buckets buckets_{512};
  std::vector<std::uint32_t> heads_;
  std::uint32_t count_ = 0;
};

}  // namespace lockstep
