#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "models/isa/atomic.hpp"
#include "models/noc/ids.hpp"

/// The list of all messages between components, and the messages to memory: requests for sectors of
/// a line, and their answers.
///
/// Bodies are trivially copyable and are sent as they are in memory, also between ranks; a
/// component that keeps one serialises its fields.  Grids and thread blocks: noc/grid_messages.hpp;
/// virtual memory: vm/messages.hpp. Source: memory-interference.md, section 1.3 (what policies need
/// to see of a request).
namespace lockstep {

inline constexpr std::uint64_t line_bytes = 128;
inline constexpr std::uint64_t sector_bytes = 32;

enum class MessageKind : std::uint16_t {
  /// SM, host, port or CPU core -> partition; SM -> host for pinned memory; SM -> port -> port for
  /// memory of another GPU.
  memory_request,
  memory_response,  ///< answer to a memory_request; every request gets one
  zero_range,       ///< host -> partition: frames are zeroed before they are mapped again
  zero_done,
  copy_page,  ///< host -> partition: a page moves to another frame of the partition
  page_copied,

  // Grids and thread blocks; bodies in models/noc/grid_messages.hpp.
  launch_grid,      ///< host -> dispatcher
  grid_done,        ///< dispatcher -> host
  block_lets_go,    ///< SM -> dispatcher: as far as the block matters, the next grid may begin
  primary_is_over,  ///< dispatcher -> SM: the grid beside which this one began has ended
  start_grid,       ///< dispatcher -> SM, before the first block of a grid on that SM
  start_block,      ///< dispatcher -> SM
  block_done,       ///< SM -> dispatcher
  stores_done,      ///< SM -> dispatcher: stores of blocks that have left the SM are done
  end_grid,         ///< dispatcher -> SM: no more blocks of this grid will come
  block_saved,      ///< SM -> dispatcher: a block has left the SM, to return
  block_restored,   ///< SM -> dispatcher: the block takes a place in the SM again
  block_settled,    ///< SM -> dispatcher: a returned block has got on, where tenants take turns
  ask_status,       ///< dispatcher -> SM: asks how far the grid's blocks are
  status,           ///< SM -> dispatcher
  stop_grid,        ///< dispatcher -> SM: the grid's blocks make room
  grid_stopped,     ///< SM -> dispatcher: no block of the grid is in the SM any more
  resume_grid,      ///< dispatcher -> SM: blocks of the grid may start and return again
  block_returned,   ///< SM -> dispatcher: a staged block that has not started
  block_flushed,    ///< SM -> dispatcher: a block that was dropped and is to start again
  give_block,       ///< dispatcher -> SM: a saved block of the grid is to return elsewhere
  /// SM -> dispatcher: the given block, or none; dispatcher -> SM: a block returns there.
  block_given,
  context_free,  ///< SM -> dispatcher -> SM: a place for contexts is free again
  homes_free,    ///< SM -> dispatcher -> SM: the block whose local memory stood there has ended
  instructions_reached,  ///< dispatcher -> host: a tenant has executed its `instructions:`
  grid_begins,  ///< host -> GMMU, partition: from now on the tenant's counts belong to the grid
  grid_ends,    ///< host -> GMMU, partition: the tenant's counts belong to the grid up to now

  // Virtual memory; bodies in models/vm/messages.hpp.
  translate,         ///< SM -> GMMU
  translation,       ///< GMMU -> SM
  page_written,      ///< SM -> GMMU: the first store under an entry
  replay,            ///< GMMU -> SM: asks the SM to repeat requests for a refused page
  replayed,          ///< SM -> GMMU: the lines that waited for a refused page have gone out
  flush,             ///< GMMU -> SM
  shootdown,         ///< GMMU -> SM
  shootdown_done,    ///< SM -> GMMU
  far_fault,         ///< GMMU -> host
  set_root,          ///< host -> GMMU
  pages_mapped,      ///< host -> GMMU
  unmap,             ///< host -> GMMU
  unmapped,          ///< GMMU -> host
  zeroed_frames,     ///< host -> GMMU: frames for pages that the GMMU maps by itself
  pages_handled,     ///< GMMU -> host: the GMMU has mapped pages by itself
  access_violation,  ///< SM -> host
  printed,           ///< SM -> host
  warning,           ///< SM -> host
  abort_tenant,      ///< host -> dispatcher -> SM
  hold_issue,        ///< host -> SM: no instruction issues while pages are moved

  // CPU cores; bodies in models/noc/core_messages.hpp.
  core_measured,  ///< CPU core -> host: the tenant has executed the instructions that are measured
  core_mistaken,  ///< CPU core -> host: a line did not hold the bytes written to it
  stop_core,      ///< host -> CPU core: all tenants have been measured

  // Policy epochs; bodies in models/coordinator/messages.hpp.
  epoch_report,  ///< component with a policy -> coordinator
  epoch_values,  ///< coordinator -> component with a policy

  inspect_range,  ///< host -> partition
  inspected,      ///< partition -> host

  // Between GPUs; bodies in models/fabric/port_messages.hpp.
  peer_copy,    ///< host -> port
  peer_copied,  ///< port -> host
  /// Port -> host: requests of SMs for a page of another GPU have reached the threshold.
  peer_counted,

  // Transfers that another component than the host serves; bodies in
  // models/host_link/link_messages.hpp.
  link_transfer,  ///< host -> link
  link_bytes,     ///< host -> link -> host
  link_moved,     ///< link -> host
  link_answer,    ///< host -> link: answer to a remote access, which the link passes on to the SM

  // Copies that the host serves; bodies in models/noc/copy_stretch.hpp.
  copy_stretch,  ///< host -> partition
  stretch_done,  ///< partition -> host

  // Thread block clusters; bodies in models/noc/cluster_messages.hpp.
  cluster_joins,   ///< SM -> hub: a block of a cluster has started there
  cluster_access,  ///< SM -> hub -> SM: to shared memory of another block
  /// SM -> hub -> SM, or hub -> SM: answer to a cluster_access; every access gets one.
  cluster_answer,
  cluster_arrives,   ///< SM -> hub: all threads of a block are at the cluster's barrier
  cluster_released,  ///< hub -> SM: all threads of the cluster are at the barrier
  cluster_ends,      ///< SM -> hub: the threads of a block have ended
  cluster_over,      ///< hub -> SM: the threads of all blocks have ended
  cluster_moves,     ///< SM -> hub, hub -> SM: a cluster leaves its SMs, to return or start again
};

/// Returns the kind as a message carries it.
constexpr std::uint16_t kind_of(MessageKind kind) {
  return static_cast<std::uint16_t>(kind);
}

enum class MemoryOperation : std::uint8_t {
  load,
  store,
  atomic,
  inspect,  ///< reads bytes at once, past caches, queues and statistics (checking only)
};

/// Kind of sender of a request.  Kinds are numbers: a machine may have others.
enum class SourceKind : std::uint8_t { sm, gmmu, host, cpu, peer, link };
inline constexpr std::size_t most_source_kinds = 8;
/// Returns whether the host is the sender, by itself or through the component that serves its
/// transfers.
constexpr bool is_of_host(SourceKind kind) {
  return kind == SourceKind::host || kind == SourceKind::link;
}

enum MemoryFlag : std::uint8_t {
  flag_local = 1,      ///< local memory of threads
  flag_bypass_l1 = 2,  ///< volatile, .cg, .cv, atomics
  flag_returns = 4,    ///< the atomic returns its old values
  flag_dma = 8,        ///< a copy over the host link
  /// The request moves the context of a thread block that leaves its SM or returns.
  flag_context = 16,
  flag_past_l2 = 32,   ///< in an answer: the request bypassed the L2
  flag_code = 64,      ///< instructions, constants or parameters of kernels, which have no owner
  flag_discard = 128,  ///< the line of a load need not be written back, and is not fetched
};

/// Marks that the SM sides of policies put on a request (models/coordinator/sm_side.hpp).
enum RequestMark : std::uint8_t {
  mark_class = 3,         ///< class of the warp, such as MeDiC's warp type
  mark_has_class = 4,     ///< the warp has a class
  mark_bypass = 8,        ///< the request had better bypass the L2
  mark_mostly_hit = 16,   ///< request of a warp that mostly hits, and so waits for little else
  mark_may_allocate = 32  ///< misses of the request may allocate in the L2
};

/// A request for sectors of one 128-byte line.
///
/// Payload of a store: a 32-bit byte mask for each sector in `sectors`, lowest first; then 32 bytes
/// for each.  Payload of an atomic: `lanes` records AtomicLane in lane order; a lane whose value
/// has 16 bytes takes two, one for each 8.
struct MemoryRequest {
  std::uint64_t line = 0;          ///< physical address, 128-byte aligned
  std::uint64_t virtual_page = 0;  ///< virtual address >> 12
  std::uint32_t tag = 0;           ///< tag of the requester; comes back in the answer
  std::uint32_t pc = 0;
  /// Number of the requester among its kind, such as the number of an SM.
  std::uint16_t requester = 0;
  std::uint16_t tenant = 0;  ///< index of the tenant, also used as its ASID
  std::uint16_t warp = 0;
  MemoryOperation operation = MemoryOperation::load;
  std::uint8_t sectors = 0;  ///< bit i: bytes 32 i ... 32 i + 31 of the line
  std::uint8_t flags = 0;
  std::uint8_t walk_level = 0;  ///< level of a page walk; 0: data
  SourceKind source = SourceKind::sm;
  isa::AtomicOperation atomic = isa::AtomicOperation::none;
  isa::Type type = isa::Type::none;  ///< type of an element of an atomic
  std::uint8_t lanes = 0;            ///< records of an atomic, at most 32
  std::uint8_t elements = 1;         ///< elements of an atomic in each lane
  std::uint8_t marks = 0;            ///< bits of RequestMark

  unsigned sector_count() const { return static_cast<unsigned>(std::popcount(sectors)); }
  isa::AtomicShape shape() const { return {atomic, type, elements}; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(line, virtual_page, tag, pc, requester, tenant, warp, operation, sectors, flags,
            walk_level, source, atomic, type, lanes, elements, marks);
  }
};
static_assert(sizeof(MemoryRequest) == 40);

struct AtomicLane {
  isa::AtomicWord operands;
  std::uint8_t offset = 0;  ///< byte within the line
  std::uint8_t lane = 0;
  std::array<std::uint8_t, 6> reserved{};
};
static_assert(sizeof(AtomicLane) == 24);

/// The answer.  Payload of a load or inspection: 32 bytes per sector, lowest first.  Payload of an
/// atomic with flag_returns: 8 bytes (the old value) per record, in their order.  The answer
/// returns the request's place in the receiving port (its credit).
struct MemoryResponse {
  std::uint64_t line = 0;
  std::uint32_t tag = 0;
  std::uint16_t requester = 0;
  std::uint16_t tenant = 0;
  std::uint16_t warp = 0;
  MemoryOperation operation = MemoryOperation::load;
  std::uint8_t sectors = 0;
  std::uint8_t flags = 0;
  /// Lower half: sectors found in the L2; upper half: sectors already on their way.
  std::uint8_t l2_hits = 0;
  std::uint8_t walk_level = 0;
  std::uint8_t lanes = 0;
};
static_assert(sizeof(MemoryResponse) == 24);

/// Filling a body field by field and copying it at once makes this computer wait for its narrow
/// stores.  So give Outbox::reserve a blank body, and fill in the copy before the payload.
template <class Body>
inline constexpr Body blank_body{};
template <class Body>
Body& body_before(std::byte* payload) {
  return *reinterpret_cast<Body*>(payload - sizeof(Body));
}

/// Fills the answer to a request, except for the members that only the answering side knows.
inline void fill_answer(const MemoryRequest& request, MemoryResponse& response) {
  response.line = request.line;
  response.tag = request.tag;
  response.requester = request.requester;
  response.tenant = request.tenant;
  response.warp = request.warp;
  response.operation = request.operation;
  response.sectors = request.sectors;
  response.flags = request.flags;
  response.walk_level = request.walk_level;
  response.lanes = request.lanes;
}
inline MemoryResponse answer_to(const MemoryRequest& request) {
  MemoryResponse response;
  fill_answer(request, response);
  return response;
}

/// zero_range and zero_done.
struct ZeroRange {
  std::uint64_t base = 0, bytes = 0;  ///< physical

  template <class Archive>
  void serialize(Archive& archive) {
    archive(base, bytes);
  }
};

/// inspect_range: asks a partition for its bytes of a range, for checking, at once and past caches,
/// queues and statistics.  inspected: lines of it that are not zero, `last` in the last message;
/// the payload is a row of InspectedLine.
struct InspectedRange {
  std::uint64_t base = 0, bytes = 0;  ///< physical
  std::uint64_t offset = 0;           ///< offset of the base in the transfer's buffer
  std::uint32_t transfer = 0;         ///< number chosen by the requester
  std::uint32_t last = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(base, bytes, offset, transfer, last);
  }
};

struct InspectedLine {
  std::uint64_t line = 0;  ///< physical
  std::array<std::byte, line_bytes> bytes{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(line, bytes);
  }
};

/// copy_page and page_copied.  The bytes move when the message arrives; the answer leaves
/// `duration` after the copy of the page before.
struct PageCopy {
  std::uint64_t from = 0, to = 0;  ///< physical
  std::int64_t duration_fs = 0;
  std::uint32_t id = 0;  ///< number chosen by the requester; comes back
  std::uint32_t reserved = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(from, to, duration_fs, id);
  }
};

/// hold_issue.
struct IssueHold {
  std::uint64_t holds = 0;  ///< 1: hold issue; 0: go on
};

}  // namespace lockstep
