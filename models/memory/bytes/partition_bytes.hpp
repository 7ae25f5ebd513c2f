/// The bytes of a partition, and the moments at which requests touch them.
///
/// A request reads, writes or modifies bytes when it arrives, in inbox order; cycles decide only
/// when its answer leaves.  The bytes of a load are copied as late as possible: when its answer
/// leaves, or when another request is about to change its line.
/// Source: architecture.md, section 8, rules 1, 8 (owners of frames) and 10.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "models/memory/bytes/partition_memory.hpp"
#include "models/memory/bytes/pending_reads.hpp"
#include "models/memory/bytes/transaction.hpp"
#include "models/noc/address.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

class PartitionBytes {
 public:
  PartitionBytes(std::uint64_t bytes, PartitionId index, const AddressMapping& mapping,
                 std::size_t tenants, TransactionPool& transactions);

  /// Returns the number of a line in the partition.
  std::uint32_t line_of(PhysicalAddress address) const {
    return static_cast<std::uint32_t>(mapping_.offset(address).value() / line_bytes);
  }
  /// Stores this partition's part of foreign pages, before the run.
  void hold_foreign(std::span<const Frame> pages);
  /// Touches the bytes of a request that arrives, with its payload.
  void accept(std::uint32_t transaction, const std::byte* payload);
  /// Zeroes this partition's part of a range. Returns the size of the part.
  std::uint64_t zero(const ZeroRange& range);
  /// Returns the lines of a range that this partition holds, but for lines of zeros.
  std::deque<InspectedLine> inspect(const InspectedRange& range) const;
  /// Drops the bytes of all frames, which are no longer needed.
  void forget() { memory_.zero(PartitionOffset{0}, memory_.size()); }
  /// Moves a page to another frame of this partition.
  void copy_page(PhysicalAddress from, PhysicalAddress to);
  /// The transaction's answer leaves: `size` bytes of it go to `out`.
  void take(std::uint32_t transaction, std::byte* out, std::size_t size);

  /// Marks the tenants whose programs have changed a word since the last call.
  void take_changed(std::span<std::uint8_t> tenants);

  void warm_line(std::uint32_t line) const { memory_.warm_line(offset_of(line)); }
  /// Fetches the bytes that the answer to a transaction will read.
  void warm_answer(std::uint32_t transaction) const {
    const Transaction& t = transactions_[transaction];
    if (t.next_read != Transaction::has_read) warm_line(t.line);
  }

  void serialize(Archive& archive);

 private:
  static PartitionOffset offset_of(std::uint32_t line) {
    return PartitionOffset{std::uint64_t{line} * line_bytes};
  }
  void check_owner(const MemoryRequest& request);
  /// Returns whether the request may be the first of a tenant's program that changes a word.
  bool is_looked_at(const MemoryRequest& request) const {
    return changed_[request.tenant] == 0 && !is_of_host(request.source) &&
           (request.flags & (flag_context | flag_code)) == 0;
  }
  void modify(std::uint32_t transaction, const std::byte* payload);
  void store(std::uint32_t transaction, const std::byte* payload);
  /// Gives unanswered loads the bytes that the lines have now.
  void read_pending(std::uint32_t first_line, std::uint32_t last_line);
  void read(std::uint32_t transaction, std::byte* out) const;
  void zero_offsets(PartitionOffset offset, std::uint64_t bytes);
  /// Calls function(offset, bytes) for this partition's parts of [base, end).
  template <class Function>
  void for_each_part(PhysicalAddress base, PhysicalAddress end, const Function& function) const;
  template <class Function>
  void for_each_chunk(PhysicalAddress from, PhysicalAddress to, const Function& function) const;

  const PartitionId index_;
  const AddressMapping mapping_;
  TransactionPool& transactions_;
  PartitionMemory memory_;
  PendingReads reads_;
  /// Flags of tenants whose bytes changed since they were taken.
  std::vector<std::uint8_t> changed_;
  /// Debug builds: the tenant of each frame, from its first access until it is zeroed.  Checkpoints
  /// leave the tenants out: first accesses name them again.
  std::map<std::uint64_t, std::uint16_t> frame_owners_;
  /// Debug builds: the tenant of each context line.
  std::map<std::uint64_t, std::uint16_t> context_owners_;
};

}  // namespace lockstep
