/// Page tables against an independent model.
///
/// The model is a plain map from pages to frames, fed by what host and GMMU say to each other:
/// roots, pages mapped, pages unmapped.  It is compared with the bytes in the memory partitions,
/// read by walking all tables of all tenants: the same pages at the same frames, no frame twice,
/// and every frame of GPU memory either mapped, a table, or free.  Bytes are read at ends of epochs
/// at which the driver is idle, from copies of the partitions, so that looking changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"
#include "models/vm/messages.hpp"

namespace lockstep::testing {

class PageTableWatch {
 public:
  explicit PageTableWatch(const Machine& machine);
  ~PageTableWatch();

  /// The component, or one around it that listens to what host and GMMU hear.
  std::unique_ptr<Component> watched(ComponentId id, std::unique_ptr<Component> built);
  /// All components stand at `now`.
  void look(Time now);
  /// After the run: "" or the first contradiction between model and memory.
  std::string contradiction() const;
  /// How often memory was read with something mapped.
  unsigned looks() const { return looks_; }

 private:
  using Page = std::pair<std::uint16_t, std::uint64_t>;  ///< tenant, virtual page
  struct Place {
    std::uint64_t bits = 0;  ///< of the entry, without what its use sets
    bool large = false;
    bool operator==(const Place&) const = default;
  };
  /// What stands in GPU memory at a time.
  struct Snapshot {
    Time time;
    std::vector<std::uint64_t> roots;  ///< by tenant
    std::map<Page, Place> pages;
    std::vector<std::uint64_t> tables;  ///< their frames
    std::uint64_t free_bytes = 0;
    std::vector<Frame> foreign;   ///< where foreign pages lie
    bool frames_settled = false;  ///< none is held for pages on their way
  };
  /// Something host and GMMU did: when it left the host or reached it.
  struct Event {
    enum class Kind : std::uint8_t { unmapped, root, mapped } kind;
    Time time;
    Page page;
    Place place;  ///< root: `bits` is the table
  };
  class Listener;
  class CopiedMemory;
  struct Model;

  void hear(const MessageHeader& message, Time latency, std::vector<Event>& events) const;
  void walk(CopiedMemory& memory, std::uint16_t tenant, Snapshot& snapshot) const;
  std::vector<Event> sorted_events() const;
  std::string compare(const Snapshot& snapshot, const Model& model) const;

  const Machine& machine_;
  const std::size_t tenants_;
  Host* host_ = nullptr;
  std::vector<Component*> partitions_;
  std::vector<Event> at_host_, at_gmmu_;  ///< each filled by the thread of its component
  std::vector<Snapshot> snapshots_;
  std::size_t events_seen_ = 0;
  unsigned looks_ = 0;
};

}  // namespace lockstep::testing
