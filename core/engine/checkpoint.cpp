/// Saves and restores a run between two windows.
///
/// The bytes are: the boundary, how many components there are, then for each in the order of ids,
/// as chunks, how far it has come, the messages on their way to it and its own state.  Nothing
/// tells where components lived.
///
/// They stream: rank 0 takes one chunk after the other from the rank where a component lives, and
/// writes it before it asks for the next.  So saving needs a few chunks of memory, however large
/// the components are.
#include <array>
#include <exception>
#include <istream>
#include <ostream>

#include "core/checkpoint/archive.hpp"
#include "core/checkpoint/chunks.hpp"
#include "core/engine/state.hpp"
#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Header by fields; body and payload as their bytes.
void save_message(Archive& archive, const MessageHeader& message) {
  MessageHeader header = message;
  archive(header);
  archive.bytes(const_cast<MessageHeader*>(&message) + 1,
                message.body_bytes + message.payload_bytes);
}

void restore_message(Archive& archive, PendingMessages& pending,
                     std::vector<std::uint64_t>& words) {
  MessageHeader header;
  archive(header);
  words.assign(header.total_bytes() / sizeof words[0], 0);
  std::memcpy(words.data(), &header, sizeof header);
  archive.bytes(reinterpret_cast<std::byte*>(words.data()) + sizeof header,
                header.body_bytes + header.payload_bytes);
  pending.keep(MessagePlace::of(header, 0), reinterpret_cast<const std::byte*>(words.data()));
}

void serialize_component(Archive& archive, Component& component) {
  const std::size_t sections = archive.sections();
  component.serialize(archive);
  LOCKSTEP_CHECK(archive.sections() > sections, "a component's state begins with no section");
}

void save_slot(std::streambuf& bytes, Slot& slot, Time reached) {
  std::ostream out(&bytes);
  Archive archive = Archive::saving(out);
  archive.section("engine", 1);
  archive(reached);
  const std::vector<const MessageHeader*> messages = slot.pending.sorted();
  std::uint64_t count = messages.size();
  archive(count);
  for (const MessageHeader* message : messages) save_message(archive, *message);
  serialize_component(archive, *slot.component);
}

/// Returns where the component stood.
Time restore_slot(std::streambuf& bytes, Slot& slot, const std::string& name) {
  std::istream in(&bytes);
  Archive archive = Archive::restoring(in, name);
  archive.section("engine", 1);
  Time reached;
  std::uint64_t count = 0;
  archive(reached, count);
  slot.pending = PendingMessages();
  std::vector<std::uint64_t> words;
  for (; count > 0; --count) restore_message(archive, slot.pending, words);
  serialize_component(archive, *slot.component);
  return reached;
}

/// Calls `sink` with the chunks of a component; if it cannot be saved, with an end all the same.
void save_chunks(Slot& slot, Time reached, const ChunkWriter::Sink& sink,
                 std::exception_ptr& failure) {
  ChunkWriter chunks(sink);
  try {
    save_slot(chunks, slot, reached);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  chunks.finish();
}

}  // namespace

bool Engine::save(std::ostream& out) {
  State& state = *state_;
  Communicator& communicator = state.communicator;
  state.window->settle();
  const bool writes = communicator.rank() == 0;
  const auto write = [&](std::span<const std::byte> chunk) { write_chunk(out, chunk); };
  const auto send = [&](std::span<const std::byte> chunk) { communicator.send(0, chunk); };
  const ChunkWriter::Sink sink = writes ? ChunkWriter::Sink(write) : ChunkWriter::Sink(send);

  if (writes) {
    write_number(out, static_cast<std::uint64_t>(state.boundary.femtoseconds()));
    write_number(out, state.graph.nodes().size());
  }
  std::exception_ptr failure;
  std::span<Slot> slots = state.window->slots();
  std::size_t next = 0;  // slots are in the order of ids
  for (const Place& place : state.assignment.places) {
    if (place.rank == communicator.rank()) {
      Slot& slot = slots[next++];
      save_chunks(slot, state.window->reached()[slot.kind], sink, failure);
    } else if (writes) {
      Communicator::Bytes chunk;
      do {
        chunk = communicator.receive(place.rank);
        write(chunk);
      } while (!chunk.empty());
    }
  }
  std::array<std::int64_t, 1> complete{!failure && (!writes || out) ? 1 : 0};
  communicator.minimum(complete);
  if (failure) std::rethrow_exception(failure);
  if (writes && !out) throw UserError("", "the checkpoint cannot be written");
  return complete[0] != 0;
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
  std::size_t next = 0;
  for (std::uint32_t id = 0; id < state.graph.nodes().size(); ++id) {
    const std::string name = state.graph.name(ComponentId{id});
    ChunkReader chunks(in);
    const bool is_here = next < slots.size() && slots[next].id.value() == id;
    if (is_here) {
      Slot& slot = slots[next++];
      reached[slot.kind] = std::min(reached[slot.kind], restore_slot(chunks, slot, name));
    }
    if (!chunks.finish() && is_here) {
      throw UserError(name, "the checkpoint holds more than this program reads",
                      "resume with the program that wrote it");
    }
  }
  for (Time& time : reached) {
    if (time == Time::never()) time = Time::zero();
  }
  state.window->set_reached(std::move(reached));
  state.window->settle();
}

}  // namespace lockstep
