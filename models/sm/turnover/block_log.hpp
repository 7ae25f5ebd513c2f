#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"
#include "core/time/time.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

/// Row of the /thread_blocks table.
struct BlockRecord {
  BlockReference reference;
  Time started, done = Time::never();

  void serialize(Archive& archive) { archive(reference, started, done); }
};

/// Log of the times at which the blocks of an SM came and went, if `record_blocks` asks for it.  A
/// block that leaves for memory and returns has one row, at the SM where it ends.
class BlockLog {
 public:
  explicit BlockLog(bool enabled) : enabled_(enabled) {}

  void started(const BlockReference& reference, Time now) {
    if (enabled_) here_.push_back({reference, now});
  }
  void done(const BlockReference& reference, Time now) {
    if (!enabled_) return;
    done_.push_back(take(reference));
    done_.back().done = now;
  }
  /// Removes a block that will end at another SM.  Returns its start.
  Time left(const BlockReference& reference) {
    return enabled_ ? take(reference).started : Time::zero();
  }

  /// Returns the blocks that are done, in the order of their ends, then the others, in the order of
  /// their starts.
  std::vector<BlockRecord> records() const {
    std::vector<BlockRecord> all = done_;
    all.insert(all.end(), here_.begin(), here_.end());
    return all;
  }

  void serialize(Archive& archive) { archive(done_, here_); }

 private:
  BlockRecord take(const BlockReference& reference) {
    const auto found = std::find_if(here_.begin(), here_.end(), [&](const BlockRecord& other) {
      return other.reference.grid == reference.grid && other.reference.block == reference.block;
    });
    LOCKSTEP_CHECK(found != here_.end(), "a block leaves that has not started");
    const BlockRecord record = *found;
    here_.erase(found);
    return record;
  }

  const bool enabled_;
  std::vector<BlockRecord> done_, here_;
};

}  // namespace lockstep
