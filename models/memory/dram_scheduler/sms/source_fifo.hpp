/// Stage 1 of staged memory scheduling: the FIFO of a source, whose requests form batches.
///
/// A batch is a run of consecutive requests for one row.  It is closed, and ready, when a request
/// for another row comes, when its oldest request has waited for a threshold, when it fills the
/// FIFO, or when it has as many requests as a batch may have.  A batch behind others keeps growing
/// in a full FIFO: otherwise a source that always fills the FIFO would form no batches.
/// Source: 004, sections 5.3.1 and 5.3.2; memory-interference.md, section 4.3.1.
#pragma once

#include "core/memory/ring.hpp"
#include "models/memory/dram/dram_queue.hpp"

namespace lockstep {

class SourceFifo {
 public:
  SourceFifo(std::uint32_t places, std::uint32_t most_in_batch)
      : places_(places), most_in_batch_(most_in_batch) {}

  bool empty() const { return requests_.empty(); }
  bool full() const { return requests_.size() == places_; }

  /// Adds a request, whose batch is closed after `threshold` cycles at the latest.
  void push(std::uint32_t place, const DramEntry& entry, std::int64_t threshold) {
    const std::uint64_t row = std::uint64_t{entry.bank} << 32 | entry.row;
    Batch* last = batches_.empty() ? nullptr : &batches_[batches_.size() - 1];
    if (last == nullptr || !takes(*last, row, entry.arrival)) {
      if (last != nullptr) close(*last, entry.arrival);
      batches_.push({row, entry.arrival, entry.arrival + threshold, 0});
      last = &batches_[batches_.size() - 1];
    }
    requests_.push(place);
    ++last->count;
    if (last->count == most_in_batch_ || last->count == places_) close(*last, entry.arrival);
  }
  std::uint32_t front() const { return requests_.front(); }
  /// The front request, of the batch that is drained.
  void pop() {
    requests_.pop();
    if (--batches_.front().count == 0) batches_.pop();
  }

  /// Returns the cycle in which the front batch is ready, or will be if no request comes; never if
  /// there is none.
  DramCycle ready() const {
    return batches_.empty() ? DramCycle::never() : batches_.front().closes;
  }
  std::uint32_t batch_size() const { return batches_.front().count; }
  std::uint32_t bank() const { return static_cast<std::uint32_t>(batches_.front().row >> 32); }
  DramCycle oldest() const { return batches_.front().first; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(requests_, batches_);
  }

 private:
  struct Batch {
    std::uint64_t row = 0;  ///< row with its bank
    DramCycle first;        ///< arrival of the oldest request
    DramCycle closes;       ///< cycle from which the batch is ready and takes no more requests
    std::uint32_t count = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(row, first, closes, count);
    }
  };
  bool takes(const Batch& batch, std::uint64_t row, DramCycle now) const {
    return batch.row == row && now < batch.closes;
  }
  static void close(Batch& batch, DramCycle now) { batch.closes = std::min(batch.closes, now); }

  const std::uint32_t places_, most_in_batch_;
  Ring<std::uint32_t> requests_;  ///< places in the DRAM queue
  Ring<Batch> batches_;
};

}  // namespace lockstep
