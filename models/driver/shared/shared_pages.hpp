/// Pages of managed memory that several GPUs of a tenant share: their owners, and the GPU whose
/// turn it is.
///
/// A page is on its way to one GPU at a time: a GPU claims it, the others give it up (entirely, or
/// except for copies, as the peer policy says), and it comes.  A fault of another GPU waits
/// meanwhile, and then until the page has stayed for a while, so that the faulting warp has used
/// it; waiting GPUs get it in turn.  GPUs that map a page on another GPU give it up before it
/// leaves there.  Where there is a link, bytes go over the fabric: the claiming GPU first gets
/// frames for the page; then the other one gives it up and keeps its frames until they have been
/// read (page_moves.cpp). Source: design of the project; UVM's lock of a va_block
/// (open-gpu-kernel-modules).
///
/// Simplified: turns go by page, not by blocks of 2 MiB.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/time/time.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"
#include "models/vm/frame_run.hpp"

namespace lockstep {

class Archive;
class Outbox;

/// Neighbouring pages of a buffer that GPUs share, in units in which its pages move.
struct SharedRange {
  std::uint32_t buffer = 0;  ///< number of the buffer in SharedPages
  std::uint64_t first = 0, count = 0;
};

class SharedPages {
 public:
  /// The driver of a GPU, as the drivers of other GPUs see it.
  class Gpu {
   public:
    virtual ~Gpu() = default;
    /// Takes units [first, first + count) of an allocation off the GPU.
    virtual void give_away(std::uint32_t allocation, std::uint64_t first, std::uint64_t count,
                           Time now, Outbox& outbox) = 0;
    /// Lets faults, departures and migrations that waited for others go on.
    virtual void reconsider(Time now, Outbox& outbox) = 0;
    /// Returns its number in the machine.
    virtual std::uint32_t number() const = 0;
    /// Returns whether the GPU has a way to another GPU of the machine.
    virtual bool reaches(std::uint32_t number) const = 0;
    /// Returns whether a unit is in the GPU's memory and stays there for now.
    virtual bool is_resident(std::uint32_t allocation, std::uint64_t unit) const = 0;
    /// Lets another GPU map a unit, until the unit is given away.  Returns its frames.
    virtual std::vector<FrameRun> lend(std::uint32_t allocation, std::uint64_t unit) = 0;
    /// Returns where a unit lies that another GPU reads.
    virtual std::vector<FrameRun> frames(std::uint32_t allocation, std::uint64_t unit) const = 0;
    /// Returns whether no part of a unit is on the GPU or on its way there.
    virtual bool is_without(std::uint32_t allocation, std::uint64_t unit) const = 0;
    /// Copies frames of this GPU to frames of another one; `id` comes back in
    /// SharedPages::copied().
    virtual void send(std::uint32_t allocation, const std::vector<FrameRun>& from,
                      const std::vector<FrameRun>& to, std::uint32_t gpu, std::uint64_t id,
                      Time now, Outbox& outbox) = 0;
    /// Frames of a departure have been read.
    virtual void was_read(std::uint32_t departure, Time now, Outbox& outbox) = 0;
    /// A unit of a migration has come.
    virtual void has_come(std::uint32_t migration, Time now, Outbox& outbox) = 0;
    /// Takes in a unit for which another GPU has no room, by claiming it, if there is a place.
    virtual void take_in(std::uint32_t allocation, std::uint64_t unit, Time now,
                         Outbox& outbox) = 0;
  };

  explicit SharedPages(std::unique_ptr<PeerPolicy> policy) : policy_(std::move(policy)) {}
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  const PeerPolicy& policy() const { return *policy_; }
  /// Returns the number of the GPU here.
  std::uint32_t join(Gpu& gpu);
  /// Notes that a tenant's buffer has come to a GPU, as an allocation there.  Returns the buffer's
  /// number, which is the same for all GPUs.
  std::uint32_t add(std::uint32_t tenant, std::uint32_t declared, std::uint32_t gpu,
                    std::uint32_t allocation, std::uint64_t units);
  /// Notes that no page of the buffer is on the GPU any more.
  void remove(std::uint32_t buffer, std::uint32_t gpu);

  // Questions of a GPU.
  /// Returns whether a unit may come to the GPU now, or become writable there.  If not, its fault
  /// waits: the other GPUs are asked for the unit, or the GPU waits for its turn.
  bool may_come(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu, bool write,
                bool as_copy, Time now);
  /// Returns whether a unit may migrate along with others: no GPU has it or waits for it.
  bool is_free(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu, bool as_copy) const;
  /// Returns whether a fault of the GPU on the unit still waits for others.
  bool waits(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const;
  /// Returns whether a read of the unit brings the GPU a copy: as decided when the unit was let
  /// come, else as the policy decides now.
  bool copies_reads(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const {
    const Page& page = buffers_[buffer].pages[unit];
    if (page.claim == gpu && page.asked) return page.as_copy;
    return policy_->copies_reads(page.history);
  }

  /// Returns whether a unit that may come stays in place and is mapped; borrow() then names its
  /// frames.
  bool is_to_be_mapped(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const;
  std::vector<FrameRun> borrow(std::uint32_t buffer, std::uint64_t unit);
  /// Recalls a leaving range: GPUs that map it give it up first, and GPUs that read it finish.
  /// Returns whether any GPU maps or reads it.
  bool recall(const SharedRange& range, std::uint32_t gpu);
  bool is_borrowed(const SharedRange& range, std::uint32_t gpu) const;
  /// Marks a unit that the GPU maps and uses so often that it should have it.  Returns false if the
  /// unit is already on its way to a GPU.
  bool attract(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu);
  bool is_attracted(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const {
    return buffers_[buffer].pages[unit].attracted == gpu;
  }

  // Bytes over the fabric (page_moves.cpp).
  /// A unit whose bytes come from another GPU, not from the host.
  struct Source {
    static constexpr std::uint32_t keeps = ~std::uint32_t{0};
    std::uint32_t gpu = 0;  ///< number of the GPU in SharedPages
    std::uint32_t departure =
        keeps;  ///< gpu: the other GPU, whose frames are read; keeps: it still has the unit
    bool is_newer = false;  ///< the host's bytes are old
    std::vector<FrameRun> frames;
    template <class A>
    void serialize(A& archive) {
      archive(gpu, departure, is_newer, frames);
    }
  };
  /// Lets other GPUs give up the pages that come over the fabric, since the GPU has frames for the
  /// range. Returns whether there is something to wait for.
  bool fetch(const SharedRange& range, std::uint32_t gpu);
  bool is_ready(const SharedRange& range, std::uint32_t gpu) const;
  /// Returns whether another GPU, which has frames, waits for a unit that leaves this one.
  bool is_awaited(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const;
  /// Notes that a unit has left the GPU, except for its frames.
  void park(std::uint32_t buffer, std::uint64_t unit, Source source);
  /// Returns where the bytes of a unit are that comes to the GPU; nothing: at the host.
  std::optional<Source> take_source(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu);
  /// Sends the bytes of a unit to frames of a GPU, for a migration there.
  void send(std::uint32_t buffer, std::uint64_t unit, const Source& source, std::uint32_t gpu,
            const std::vector<FrameRun>& to, std::uint32_t migration, Time now, Outbox& outbox);
  /// An answer: a unit's bytes have reached the other GPU.
  void copied(std::uint64_t id, Time now, Outbox& outbox);
  /// Pages leave a full GPU: a neighbour may take them in.
  void spill(const SharedRange& range, std::uint32_t gpu);
  /// Claims a unit that another GPU gives up.  Returns false if some GPU wants it.
  bool claim_spilled(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu);

  // News of a GPU.
  void coming(const SharedRange& range, std::uint32_t gpu);
  void came(const SharedRange& range, std::uint32_t gpu, bool as_copy, Time now);
  void came_mapped(const SharedRange& range, std::uint32_t gpu);
  void given_up(const SharedRange& range, std::uint32_t gpu);
  void left(const SharedRange& range, std::uint32_t gpu);

  Time next_activity() const;
  /// Sends the consequences of earlier calls.
  void act(Time now, Outbox& outbox);

  void serialize(Archive& archive);

 private:
  static constexpr std::uint8_t nobody = 0xff;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Page {
    std::uint64_t there = 0;    ///< GPUs that have the unit, wait for it, or are giving it up
    std::uint64_t copies = 0;   ///< GPUs with a read-only copy of the host's bytes
    std::uint64_t maps = 0;     ///< GPUs that map another one's memory
    std::uint64_t waiting = 0;  ///< GPUs with faults that wait for their turn
    Time stays_until;
    PeerHistory history;
    std::uint8_t claim = nobody;      ///< GPU to which the unit comes
    std::uint8_t last = 0;            ///< GPU to which the unit came last
    std::uint8_t parked = nobody;     ///< GPU that has given the unit up but for its frames
    std::uint8_t read_at = nobody;    ///< GPU whose copy the claim reads
    std::uint8_t attracted = nobody;  ///< GPU that should have the unit instead of mapping it
    bool asked = false;               ///< the claim's fault has told its needs
    bool alone = false;               ///< the claim needs the unit alone
    bool as_copy = false;             ///< the claim gets a copy
    bool mapped = false;              ///< the claim maps the unit where it is
    bool recalled = false;            ///< the unit leaves the memory where it is
    bool fetched = false;  ///< the claim takes frames of its own before the others give the unit up
    bool awaited = false;  ///< the claim has these frames and waits for the bytes
    void end_claim();
    void serialize(Archive& archive);
  };
  struct Buffer {
    std::uint32_t tenant = 0, declared = 0;
    std::uint64_t live = 0;                  ///< GPUs on which the buffer is live
    std::vector<std::uint32_t> allocations;  ///< allocation of each GPU
    std::vector<Page> pages;
    void serialize(Archive& archive);
  };
  struct Turn {
    Time when;
    std::uint32_t buffer = 0;
    std::uint64_t unit = 0;
    auto operator<=>(const Turn&) const = default;
    template <class A>
    void serialize(A& archive) {
      archive(when, buffer, unit);
    }
  };
  /// Request to a GPU about a unit.
  struct Ask {
    std::uint32_t gpu = 0, buffer = 0;
    std::uint64_t unit = 0;
    auto operator<=>(const Ask&) const = default;
  };
  /// Bytes of a unit on their way over the fabric.
  struct Flight {
    std::uint32_t from = 0, to = 0, departure = 0, migration = 0, buffer = 0;
    std::uint64_t unit = 0;
    bool is_used = false;
    template <class A>
    void serialize(A& archive) {
      archive(from, to, departure, migration, buffer, unit, is_used);
    }
  };

  static constexpr std::uint64_t bit(std::uint32_t gpu) { return std::uint64_t{1} << gpu; }
  /// Returns the GPUs that must give the page up before it comes.
  static std::uint64_t in_the_way(const Page& page, std::uint32_t gpu, bool alone) {
    const std::uint64_t others = page.there & ~bit(gpu);
    return alone ? others : others & ~page.copies;
  }
  /// Returns the GPU in whose memory a unit lies alone and to stay; none: there is no such GPU.
  std::uint32_t home_of(const Buffer& buffer, std::uint64_t unit) const;
  PeerFault fault_of(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu, bool write,
                     Time now) const;
  /// Notes a fault that is served, and lets the page's neighbours follow.
  void note(Buffer& buffer, std::uint64_t unit, const PeerFault& fault);
  void spread_scheme(Buffer& buffer, std::uint64_t unit);
  /// Returns whether a page that others have comes over the fabric.
  bool comes_over_fabric(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu) const;
  /// Returns a GPU with a copy of a page and a link to another GPU; none: there is no such GPU.
  std::uint32_t copy_for(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu) const;
  bool all_have_left(const Page& page, std::uint32_t gpu) const;
  void ask(std::uint64_t gpus, std::uint32_t buffer, std::uint64_t unit);
  std::vector<std::uint32_t> neighbours_of(const Buffer& buffer, std::uint32_t gpu) const;
  /// Gives waiting GPUs their turn at that time, because the claim has ended or the page has left a
  /// GPU.
  void schedule(std::uint32_t buffer, std::uint64_t unit, Time when);
  void grant(std::uint32_t buffer, std::uint64_t unit, Time now);
  void send_asks(Time now, Outbox& outbox);
  void offer_spilled(Time now, Outbox& outbox);
  void check_alone(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu) const;

  const std::unique_ptr<PeerPolicy> policy_;
  std::vector<Gpu*> gpus_;
  std::vector<Buffer> buffers_;
  std::set<Turn> turns_;
  /// Parked sources, by buffer and unit.
  std::map<std::pair<std::uint32_t, std::uint64_t>, Source> parked_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  std::vector<Ask> asks_;     ///< requests of the current call to give a unit away
  std::vector<Ask> spilled_;  ///< units spilled in the current call, and by which GPU
  std::uint64_t woken_ = 0;   ///< GPUs woken in the current call
};

}  // namespace lockstep
