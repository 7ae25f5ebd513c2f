/// Parts of recorded collectives, done one after the other on plain memory, leave what the
/// collective promises: of any length, on any number of GPUs, in place or not.
#include "models/workload/recording/collective_parts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <set>

namespace lockstep {
namespace {

using Operation = RecordedCollective::Operation;
using Kind = CollectivePart::Kind;

constexpr std::uint64_t room = 4096;  // words of a GPU: what it sends, what it gets, its scratch

/// GPUs whose memory is one array of words, an element each.
class Gpus {
 public:
  Gpus(Operation operation, std::size_t gpus, std::uint64_t count, bool in_place, bool average)
      : words_(gpus * room), count_(count), average_(average) {
    collective_.operation = operation;
    collective_.count = count;
    collective_.root = static_cast<std::uint32_t>(gpus - 1);
    for (std::size_t k = 0; k < gpus; ++k) {
      const std::uint64_t own = k * room;
      std::uint64_t receive = own + room / 2;
      if (in_place) receive = own;
      if (in_place && operation == Operation::reduce_scatter) receive = own + k * count;
      std::uint64_t send = own;
      if (in_place && operation == Operation::all_gather) send = own + k * count;
      collective_.members.push_back(
          {4 * send, 4 * receive, 4 * (own + 3 * room / 4), 0, static_cast<std::uint32_t>(k), 0});
      for (std::uint64_t i = 0; i < sent(); ++i) words_[send + i] = value(k, i);
    }
  }

  /// Does the parts; copies and launches between two waits in any order, here backwards.
  void run() {
    const std::vector<CollectivePart> parts = parts_of(collective_);
    for (std::size_t begin = 0; begin < parts.size();) {
      std::size_t end = begin;
      while (end < parts.size() && parts[end].kind != Kind::wait) ++end;
      for (std::size_t p = end; p > begin; --p) act(parts[p - 1]);
      std::set<std::uint32_t> streams, awaited;
      for (std::size_t p = begin; p < end; ++p) streams.insert(parts[p].stream);
      for (begin = end; begin < parts.size() && parts[begin].kind == Kind::wait; ++begin)
        awaited.insert(parts[begin].stream);
      EXPECT_EQ(streams, awaited) << "all that was begun is waited for";
    }
  }

  std::uint32_t received(std::size_t gpu, std::uint64_t i) const {
    return words_[collective_.members[gpu].receive / 4 + i];
  }
  static std::uint32_t value(std::size_t gpu, std::uint64_t i) {
    return static_cast<std::uint32_t>(1000 * (gpu + 1) + i);
  }
  std::uint32_t sum(std::uint64_t i) const {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < collective_.members.size(); ++k) all += value(k, i);
    return average_ ? all / static_cast<std::uint32_t>(collective_.members.size()) : all;
  }
  std::size_t root() const { return collective_.root; }

 private:
  std::uint64_t sent() const {
    const bool scatters = collective_.operation == Operation::reduce_scatter;
    return scatters ? count_ * words_.size() / room : count_;
  }
  void act(const CollectivePart& part) {
    const std::uint64_t count = part.kind == Kind::copy ? part.bytes / 4 : part.count;
    ASSERT_LE(part.to / 4 + count, words_.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint32_t word = words_[part.one / 4 + i];
      if (part.kind == Kind::combine) word += words_[part.other / 4 + i];
      if (average_ && part.kind == Kind::combine) word /= part.divisor;
      words_[part.to / 4 + i] = word;
    }
    const std::uint64_t from = part.one / 4 / room, to = part.to / 4 / room;
    EXPECT_EQ(from == to, part.kind != Kind::copy) << "copies go between GPUs, kernels stay";
    EXPECT_EQ(part.stream, from) << "who has the bytes sends them";
  }

  RecordedCollective collective_;
  std::vector<std::uint32_t> words_;
  std::uint64_t count_;
  bool average_;
};

template <class Check>
void for_all(Operation operation, const Check& check) {
  for (std::size_t gpus = 1; gpus <= 5; ++gpus)
    for (const std::uint64_t count : {1, 2, 5, 7, 64, 201})
      for (const bool in_place : {false, true})
        for (const bool average : {false, true}) {
          SCOPED_TRACE(testing::Message() << gpus << " GPUs, " << count << " elements"
                                          << (in_place ? ", in place" : ""));
          Gpus machine(operation, gpus, count, in_place, average);
          machine.run();
          check(machine, gpus, count);
        }
}

TEST(CollectiveParts, AnAllReduceLeavesTheSumOnAll) {
  for_all(Operation::all_reduce, [](const Gpus& machine, std::size_t gpus, std::uint64_t count) {
    for (std::size_t k = 0; k < gpus; ++k)
      for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(machine.received(k, i), machine.sum(i));
  });
}

TEST(CollectiveParts, AReduceLeavesTheSumOnTheRoot) {
  for_all(Operation::reduce, [](const Gpus& machine, std::size_t, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(machine.received(machine.root(), i), machine.sum(i));
  });
}

TEST(CollectiveParts, AReduceScatterLeavesEachThePartOfItsNumber) {
  for_all(Operation::reduce_scatter,
          [](const Gpus& machine, std::size_t gpus, std::uint64_t count) {
            for (std::size_t k = 0; k < gpus; ++k)
              for (std::uint64_t i = 0; i < count; ++i)
                ASSERT_EQ(machine.received(k, i), machine.sum(k * count + i));
          });
}

TEST(CollectiveParts, AnAllGatherLeavesEverybodysPartOnAll) {
  for_all(Operation::all_gather, [](const Gpus& machine, std::size_t gpus, std::uint64_t count) {
    for (std::size_t k = 0; k < gpus; ++k)
      for (std::uint64_t i = 0; i < gpus * count; ++i)
        ASSERT_EQ(machine.received(k, i), Gpus::value(i / count, i % count));
  });
}

TEST(CollectiveParts, ABroadcastLeavesTheRootsOnAll) {
  for_all(Operation::broadcast, [](const Gpus& machine, std::size_t gpus, std::uint64_t count) {
    for (std::size_t k = 0; k < gpus; ++k)
      for (std::uint64_t i = 0; i < count; ++i)
        ASSERT_EQ(machine.received(k, i), Gpus::value(machine.root(), i));
  });
}

TEST(CollectiveParts, AreReadAsTheyWereWrittenAndNothingElseIs) {
  RecordedCollective written;
  written.operation = Operation::reduce;
  written.root = 1;
  written.count = 77;
  written.members = {{1, 2, 3, 4, 5, 0}, {6, 7, 8, 9, 10, 1}};
  const std::vector<std::byte> bytes = written.pack();
  const auto read = RecordedCollective::unpack(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->count, 77u);
  EXPECT_EQ(read->root, 1u);
  EXPECT_EQ(read->members[1].receive, 7u);
  EXPECT_EQ(read->members[1].stream, 10u);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(RecordedCollective::unpack(std::span(bytes).first(cut)));
  for (const std::size_t word : {0, 4, 12, 16}) {  // operation, root, bytes of an element, members
    std::vector<std::byte> other = bytes;
    std::memset(other.data() + word, 0xff, 4);
    EXPECT_FALSE(RecordedCollective::unpack(other));
  }
}

}  // namespace
}  // namespace lockstep
