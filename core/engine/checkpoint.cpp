/// Saves and restores a run between two windows.
///
/// The bytes are: the boundary, then for each component in the order of ids how far it has come,
/// its own state and the messages on their way to it.  Nothing tells where components lived.
#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/engine/state.hpp"
#include "core/error/error.hpp"

namespace lockstep {
namespace {

using Blob = std::vector<std::byte>;

/// Bytes of a component with its id, as they travel to rank 0.
struct BlobHeader {
  std::uint64_t component;
  std::uint64_t bytes;
};

std::string serialize_slot(Slot& slot, Time reached) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  std::int64_t stands_at = reached.femtoseconds();
  archive(stands_at);
  slot.component->serialize(archive);
  const std::vector<const MessageHeader*> messages = slot.pending.sorted();
  std::uint64_t count = messages.size();
  archive(count);
  for (const MessageHeader* message : messages) {
    std::uint64_t size = message->total_bytes();
    archive(size);
    archive.bytes(const_cast<MessageHeader*>(message), size);
  }
  return out.str();
}

/// Returns where the component stood.
Time restore_slot(Slot& slot, const std::string& bytes) {
  std::istringstream in(bytes);
  Archive archive = Archive::restoring(in);
  std::int64_t stands_at = 0;
  archive(stands_at);
  slot.component->serialize(archive);
  std::uint64_t count = 0;
  archive(count);
  slot.pending = PendingMessages();
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t size = 0;
    archive(size);
    words.resize(size / 8);
    archive.bytes(words.data(), size);
    const auto& message = *reinterpret_cast<const MessageHeader*>(words.data());
    slot.pending.keep(MessagePlace::of(message, 0),
                      reinterpret_cast<const std::byte*>(words.data()));
  }
  return Time{stands_at};
}

void write_number(std::ostream& out, std::uint64_t number) {
  out.write(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t read_number(std::istream& in) {
  std::uint64_t number = 0;
  in.read(reinterpret_cast<char*>(&number), sizeof number);
  if (!in) throw UserError("", "the checkpoint ends too early");
  return number;
}

}  // namespace

void Engine::save(std::ostream& out) {
  State& state = *state_;
  state.window->settle();
  Blob own;
  for (Slot& slot : state.window->slots()) {
    const std::string bytes = serialize_slot(slot, state.window->reached()[slot.kind]);
    const BlobHeader header{slot.id.value(), bytes.size()};
    const auto* header_bytes = reinterpret_cast<const std::byte*>(&header);
    own.insert(own.end(), header_bytes, header_bytes + sizeof header);
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    own.insert(own.end(), data, data + bytes.size());
  }
  const std::vector<Blob> all = state.communicator.gather(own);
  if (state.communicator.rank() != 0) return;

  std::vector<std::span<const std::byte>> by_component(state.graph.nodes().size());
  for (const Blob& blob : all) {
    for (std::size_t at = 0; at < blob.size();) {
      BlobHeader header;
      std::memcpy(&header, blob.data() + at, sizeof header);
      by_component[header.component] = std::span(blob).subspan(at + sizeof header, header.bytes);
      at += sizeof header + header.bytes;
    }
  }
  write_number(out, static_cast<std::uint64_t>(state.boundary.femtoseconds()));
  write_number(out, by_component.size());
  for (const std::span<const std::byte> bytes : by_component) {
    write_number(out, bytes.size());
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }
}

void Engine::restore(std::istream& in) {
  State& state = *state_;
  state.window->settle();
  state.boundary = Time{static_cast<std::int64_t>(read_number(in))};
  if (read_number(in) != state.graph.nodes().size()) {
    throw UserError("", "the checkpoint is of another machine",
                    "resume with the configuration it was taken with");
  }
  std::vector<Time> reached(state.graph.kinds().size(), Time::never());
  std::span<Slot> slots = state.window->slots();
  std::size_t next = 0;  // slots are in the order of ids
  for (std::size_t id = 0; id < state.graph.nodes().size(); ++id) {
    std::string bytes(read_number(in), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!in) throw UserError("", "the checkpoint ends too early");
    if (next == slots.size() || slots[next].id.value() != id) continue;
    Slot& slot = slots[next++];
    reached[slot.kind] = std::min(reached[slot.kind], restore_slot(slot, bytes));
  }
  for (Time& time : reached) {
    if (time == Time::never()) time = Time::zero();
  }
  state.window->set_reached(std::move(reached));
  state.window->settle();
}

}  // namespace lockstep
