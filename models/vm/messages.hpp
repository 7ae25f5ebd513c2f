/// Messages of SMs, GMMU and host about translations.  Bodies are sent as they are in memory.
///
/// An SM asks (translate) and gets an answer (translation): an entry, or a refusal that tells it to
/// wait (Nack-Replayable) until a replay tells it to ask again.  The SM reports its first store
/// under an entry (page_written).  The GMMU reports far-faults to the host, which reports pages
/// that have come (pages_mapped).  The host removes pages with unmap, which the GMMU carries out
/// (entries exchanged, shootdowns answered) before it reports `unmapped`. Source: 001, section B.2
/// (far-fault protocol); architecture.md, section 8, rules 6 to 9.
#pragma once

#include <array>
#include <cstdint>

#include "core/time/time.hpp"
#include "models/noc/messages.hpp"
#include "models/vm/page_table_entry.hpp"
#include "models/vm/tenant_page.hpp"

namespace lockstep {

/// translate: SM -> GMMU.
struct TranslateRequest {
  std::uint64_t page = 0;  ///< virtual page number
  std::uint16_t tenant = 0;
  std::uint16_t sm = 0;
  std::uint16_t warp = 0;
  std::uint8_t write : 1 = 0;    ///< a store or atomic waits
  std::uint8_t known : 1 = 0;    ///< no access waits: the SM was told of the page and uses it
  std::uint8_t retried : 1 = 0;  ///< within the GMMU: the request had to wait for a far-fault MSHR
  std::uint8_t refused : 1 = 0;  ///< within the GMMU: the request was refused meanwhile
  std::uint8_t reserved = 0;

  TenantPage where() const { return {TenantId{tenant}, VirtualPage{page}}; }

  template <class Archive>
  void serialize(Archive& archive) {
    std::uint8_t marks =
        static_cast<std::uint8_t>(write | known << 1 | retried << 2 | refused << 3);
    archive(page, tenant, sm, warp, marks);
    write = marks & 1;
    known = marks >> 1 & 1;
    retried = marks >> 2 & 1;
    refused = marks >> 3 & 1;
  }
};
static_assert(sizeof(TranslateRequest) == 16);

enum class TranslationStatus : std::uint8_t {
  found,
  refused,  ///< outside GPU memory: wait for a replay (Nack-Replayable)
  handled,  ///< refused, and the GPU handles the fault by itself
  invalid,  ///< outside of every buffer: the tenant's mistake
};

/// translation: GMMU -> SM.
struct TranslationAnswer {
  std::uint64_t page = 0;  ///< page of the request
  PageTableEntry entry;    ///< entry of the page; `large`: of the first page of its large page
  std::uint16_t tenant = 0;
  TranslationStatus status = TranslationStatus::found;
  std::uint8_t write = 0;  ///< permission of the request
  /// refused: granules that were pending before the page and still are.
  std::uint32_t position = 0;

  TenantPage where() const { return {TenantId{tenant}, VirtualPage{page}}; }
};
static_assert(sizeof(TranslationAnswer) == 24);

/// page_written and replayed: SM -> GMMU; replay: GMMU -> SM (`page` == all_pages: everything that
/// was refused, of every tenant).
struct PageNotice {
  std::uint64_t page = 0;
  std::uint16_t tenant = 0;
  std::uint16_t sm = 0;
  std::uint32_t reserved = 0;

  TenantPage where() const { return {TenantId{tenant}, VirtualPage{page}}; }
};
inline constexpr std::uint64_t all_pages = ~std::uint64_t{0};
inline constexpr std::uint16_t all_tenants = 0xffff;

/// flush: GMMU -> SM, drops TLB entries of one tenant or of all.  It needs no answer, since the
/// dropped entries were valid.
struct TlbFlush {
  std::uint16_t tenant = all_tenants;
  std::array<std::uint16_t, 3> reserved{};
};

/// Pages [page, page + count) of one tenant, all under one level-4 table.
/// shootdown: GMMU -> SM; payload: `count` entries as they were (0: nothing was mapped).
/// shootdown_done: SM -> GMMU; payload: 64-bit words, bit i: this SM stored to page i.
struct PageSpan {
  std::uint64_t page = 0;
  std::uint32_t count = 0;
  std::uint32_t id = 0;  ///< number chosen by the requester; comes back
  std::uint16_t tenant = 0;
  std::uint16_t sm = 0;  ///< SM that answers a shootdown
  std::uint32_t reserved = 0;

  TenantPage first() const { return at(0); }
  TenantPage at(std::uint32_t i) const { return {TenantId{tenant}, VirtualPage{page + i}}; }
  TenantPage end() const { return at(count); }
  bool covers(TenantPage where) const { return first() <= where && where < end(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(page, count, id, tenant, sm);
  }
};
static_assert(sizeof(PageSpan) == 24);

/// unmap: host -> GMMU.  Answer `unmapped`: PageSpan; payload: `count` old entries, with the dirty
/// bit of whoever stored.
struct UnmapRequest {
  PageSpan span;
  std::uint64_t entries_at = 0;  ///< physical address of the first level-4 entry
  /// Address of the level-3 entry if the span was a large page, else 0; bit 0: the page's entries
  /// are disabled.
  std::uint64_t large_at = 0;

  bool is_coalesced() const { return (large_at & 1) != 0; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(span, entries_at, large_at);
  }
};

/// pages_mapped: host -> GMMU, and on to all SMs with ideal translation; payload: `count` entries
/// as they are in memory now.  0 stands for an address outside of every buffer: SMs that wait for
/// it are told so.
struct PagesMapped {
  PageSpan span;
  /// First level-4 entry in memory.  Bit 0 is set for a large page; bit 1 too if its pages were
  /// mapped before and have just become one.
  std::uint64_t entries_at = 0;

  bool is_large() const { return (entries_at & 1) != 0; }
  bool is_coalesced() const { return (entries_at & 2) != 0; }
  PhysicalAddress first_entry() const { return PhysicalAddress{entries_at & ~std::uint64_t{3}}; }
};

/// set_root: host -> GMMU, before the first page of the tenant is mapped; 0 when its tables are
/// removed.
struct PageTableRoot {
  std::uint64_t table = 0;  ///< physical address of the level-1 table
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
};

/// far_fault: GMMU -> host, one per page; payload: pages walked since the last one, as AccessNote.
/// Faults found in one cycle leave in one cycle and form a batch.
struct FarFault {
  std::uint64_t page = 0;
  std::uint16_t tenant = 0;
  std::uint16_t sm = 0;  ///< SM that asked first
  std::uint16_t warp = 0;
  std::uint8_t write = 0;       ///< 1: a store waits
  std::uint8_t permission = 0;  ///< 1: the page is there but must not be written
  Time found;                   ///< time at which the GMMU found the fault
  std::uint32_t position = 0;   ///< older granules that were pending at that time
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FarFault) == 32);

/// zeroed_frames: host -> GMMU, GranuleFrames: a granule for a handler of untouched pages.
/// pages_handled: GMMU -> host, when such a handler has ended; payload: GranuleFrames, the entries
/// of the pages that it mapped; for the others, the frames that were left.
struct PagesHandled {
  PageSpan span;
  std::uint64_t faulted = 0;  ///< page that began the handling
  Time found, replayed;
};

struct AccessNote {
  std::uint64_t page : 48;
  std::uint64_t tenant : 16;

  template <class Archive>
  void serialize(Archive& archive) {
    std::uint64_t bits = page | std::uint64_t{tenant} << 48;
    archive(bits);
    page = bits & ((std::uint64_t{1} << 48) - 1);
    tenant = bits >> 48 & 0xffff;
  }
};
static_assert(sizeof(AccessNote) == 8);

/// access_violation: SM -> host, payload: where and what (two zero-terminated texts, then the
/// advice as a third); abort_tenant: host -> dispatcher -> SMs; printed: SM -> host, payload: text;
/// warning: SM -> host, payload: where and what.
struct TenantNotice {
  std::uint16_t tenant = 0;
  std::array<std::uint16_t, 3> reserved{};
};

}  // namespace lockstep
