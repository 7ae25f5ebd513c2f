/// Pages of managed memory that several GPUs of a tenant share: who has a page, and whose turn it
/// is.
///
/// A page is on its way to one GPU at a time: a GPU claims it, the others give up what they have of
/// it (all, or all but copies, as the peer policy says), and it comes.  A fault of another GPU
/// waits meanwhile, and then until the page has stayed for a while where it came, so that whoever
/// faulted has used it; GPUs that wait get it in turn. Source: design of the project; UVM's lock of
/// a va_block (open-gpu-kernel-modules).
///
/// Simplified: turns go by pages, not by blocks of 2 MiB.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/time/time.hpp"
#include "models/driver/peer_policy/peer_policy.hpp"

namespace lockstep {

class Archive;
class Outbox;

/// Neighbouring pages of a buffer that GPUs share, in units in which its pages move.
struct SharedRange {
  std::uint32_t buffer = 0;  ///< as SharedPages numbers them
  std::uint64_t first = 0, count = 0;
};

class SharedPages {
 public:
  /// The driver of a GPU, as those of others see it.
  class Gpu {
   public:
    virtual ~Gpu() = default;
    /// Takes units [first, first + count) of an allocation off the GPU.
    virtual void give_away(std::uint32_t allocation, std::uint64_t first, std::uint64_t count,
                           Time now, Outbox& outbox) = 0;
    /// Faults that waited for others may go on.
    virtual void reconsider(Time now) = 0;
    /// Whether nothing of a unit is there, nor on its way.
    virtual bool is_without(std::uint32_t allocation, std::uint64_t unit) const = 0;
  };

  explicit SharedPages(std::unique_ptr<PeerPolicy> policy) : policy_(std::move(policy)) {}
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  const PeerPolicy& policy() const { return *policy_; }
  /// Returns the number of the GPU here.
  std::uint32_t join(Gpu& gpu);
  /// A buffer of a tenant has come to a GPU, as an allocation there.  Returns the buffer's number,
  /// the same for all GPUs.
  std::uint32_t add(std::uint32_t tenant, std::uint32_t declared, std::uint32_t gpu,
                    std::uint32_t allocation, std::uint64_t units);
  /// Nothing of the buffer is on the GPU any more.
  void remove(std::uint32_t buffer, std::uint32_t gpu);

  // Questions of a GPU.
  /// Whether a unit may come to the GPU now, or become writable there.  If not, its fault waits:
  /// the others are asked for the unit, or the GPU waits for its turn.
  bool may_come(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu, bool write,
                bool as_copy, Time now);
  /// Whether a unit may come along with others: nobody has it or waits for it.
  bool is_free(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu, bool as_copy) const;
  /// Whether a fault of the GPU on the unit still waits for others.
  bool waits(std::uint32_t buffer, std::uint64_t unit, std::uint32_t gpu) const;

  // News of a GPU.
  void coming(const SharedRange& range, std::uint32_t gpu);
  void came(const SharedRange& range, std::uint32_t gpu, bool as_copy, Time now);
  void given_up(const SharedRange& range, std::uint32_t gpu);
  void left(const SharedRange& range, std::uint32_t gpu);

  Time next_activity() const;
  /// Passes on what follows from the news and questions.
  void act(Time now, Outbox& outbox);

  void serialize(Archive& archive);

 private:
  static constexpr std::uint8_t nobody = 0xff;
  struct Page {
    std::uint64_t there = 0;    ///< GPUs that have it, or to which it is on its way or from which
    std::uint64_t copies = 0;   ///< GPUs of those that have a read-only copy of what the host has
    std::uint64_t waiting = 0;  ///< GPUs with faults that wait for their turn
    Time stays_until;
    std::uint8_t claim = nobody;  ///< GPU to which it comes
    std::uint8_t last = 0;        ///< GPU to which it came last
    bool asked = false;           ///< the claim's fault has said what it needs
    bool alone = false;           ///< the claim needs it alone
    void serialize(Archive& archive);
  };
  struct Buffer {
    std::uint32_t tenant = 0, declared = 0;
    std::uint64_t live = 0;                  ///< GPUs on which it is
    std::vector<std::uint32_t> allocations;  ///< by GPU
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
  struct Ask {
    std::uint32_t gpu = 0, buffer = 0;
    std::uint64_t unit = 0;
    auto operator<=>(const Ask&) const = default;
  };

  static constexpr std::uint64_t bit(std::uint32_t gpu) { return std::uint64_t{1} << gpu; }
  /// GPUs that must give the page up before it comes.
  static std::uint64_t in_the_way(const Page& page, std::uint32_t gpu, bool alone) {
    const std::uint64_t others = page.there & ~bit(gpu);
    return alone ? others : others & ~page.copies;
  }
  /// The claim has ended, or the page has left a GPU: whoever waits has its turn at that time.
  void schedule(std::uint32_t buffer, std::uint64_t unit, Time when);
  void grant(std::uint32_t buffer, std::uint64_t unit, Time now);
  void send_asks(Time now, Outbox& outbox);
  void check_alone(const Buffer& buffer, std::uint64_t unit, std::uint32_t gpu) const;

  const std::unique_ptr<PeerPolicy> policy_;
  std::vector<Gpu*> gpus_;
  std::vector<Buffer> buffers_;
  std::set<Turn> turns_;
  std::vector<Ask> asks_;    ///< of the current call only
  std::uint64_t woken_ = 0;  ///< GPUs; of the current call only
};

}  // namespace lockstep
