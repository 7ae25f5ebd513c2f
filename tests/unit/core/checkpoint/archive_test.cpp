#include "core/checkpoint/archive.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/memory/ring.hpp"
#include "core/memory/slot_pool.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::archive_test {
namespace {

enum class Colour : std::uint8_t { red, green };

struct Record {
  std::uint64_t key = 0;
  std::uint8_t mark = 0;

  void serialize(Archive& archive) { archive(key, mark); }
  bool operator==(const Record&) const = default;
};

/// A value of every kind that an archive knows.
struct Values {
  std::int32_t number = 0;
  double real = 0;
  Colour colour = Colour::red;
  std::string text;
  std::array<std::uint16_t, 3> few{};
  std::vector<Record> records;
  std::vector<bool> bits;
  std::deque<std::uint64_t> queue;
  std::pair<std::uint8_t, Record> pair;
  std::optional<Record> some, none = Record{1, 1};
  std::map<std::string, Record> by_name;

  void serialize(Archive& archive) {
    archive.section("values", 3);
    archive(number, real, colour, text, few, records, bits, queue, pair, some, none, by_name);
  }
  bool operator==(const Values&) const = default;
};

Values sample() {
  return {-7,
          0.25,
          Colour::green,
          "text",
          {1, 2, 3},
          {{4, 5}, {6, 7}},
          {true, false},
          {8, 9},
          {10, {11, 12}},
          Record{13, 14},
          std::nullopt,
          {{"a", {15, 16}}}};
}

template <class Value>
std::string saved(Value value) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  archive(value);
  return out.str();
}
template <class Value>
void restore(Value& value, const std::string& bytes) {
  std::istringstream in(bytes);
  Archive archive = Archive::restoring(in, "sm[3]");
  archive(value);
}

TEST(Archive, EveryKindOfValueComesBack) {
  Values values;
  restore(values, saved(sample()));
  EXPECT_EQ(values, sample());
}

TEST(Archive, StructsAreSavedWithoutTheirPadding) {
  EXPECT_EQ(saved(Record{1, 2}).size(), 9u);
  EXPECT_GT(sizeof(Record), 9u);
}

TEST(Archive, NumbersAreLittleEndian) {
  EXPECT_EQ(saved(std::uint32_t{0x01020304}), "\x04\x03\x02\x01");
}

TEST(Archive, WhereverItIsCutItEndsTooEarly) {
  const std::string whole = saved(sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Values values;
    EXPECT_EQ(message_of([&] { restore(values, whole.substr(0, length)); }),
              "sm[3]: the checkpoint ends too early - it is damaged: resume from an older one")
        << "after " << length << " bytes";
  }
}

/// A list of `count` that is not there.
template <class Value>
std::string refusal_of(std::uint64_t count) {
  Value value;
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof count);
  bytes += std::string(1000, '\0');
  return message_of([&] { restore(value, bytes); });
}

TEST(Archive, NoRoomIsMadeForWhatIsNotThere) {
  const std::string said =
      "sm[3]: the checkpoint ends too early - it is damaged: resume from an older one";
  for (const std::uint64_t count :
       {std::uint64_t{1} << 30, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    EXPECT_EQ(refusal_of<std::string>(count), said);
    EXPECT_EQ(refusal_of<std::vector<std::uint64_t>>(count), said);
    EXPECT_EQ(refusal_of<std::vector<bool>>(count), said);
    EXPECT_EQ(refusal_of<std::vector<std::string>>(count), said);
    EXPECT_EQ(refusal_of<std::deque<Record>>(count), said);
    EXPECT_EQ((refusal_of<std::map<std::uint32_t, std::string>>(count)), said);
  }
}

TEST(Archive, YesIsOneAndNoIsNought) {
  const std::string said =
      "sm[3]: the checkpoint holds something else where yes or no stands - it is damaged: resume "
      "from an older one";
  bool value = false;
  restore(value, std::string(1, '\1'));
  EXPECT_TRUE(value);
  for (const char damaged : {'\2', '\x7f', '\xff'})
    EXPECT_EQ(message_of([&] { restore(value, std::string(1, damaged)); }), said);
  std::optional<bool> maybe;
  EXPECT_EQ(message_of([&] { restore(maybe, "\3"); }), said);
}

TEST(Archive, LongListsOfStructsComeBack) {
  const std::vector<std::string> many(100'000, "x");
  std::vector<std::string> restored;
  restore(restored, saved(many));
  EXPECT_EQ(restored, many);
}

/// Saves and restores what a function says.
struct Script {
  std::function<void(Archive&)> script;
  void serialize(Archive& archive) { script(archive); }
};
std::string refusal(std::function<void(Archive&)> saves, std::function<void(Archive&)> restores) {
  const std::string bytes = saved(Script{std::move(saves)});
  Script reader{std::move(restores)};
  return message_of([&] { restore(reader, bytes); });
}

TEST(Sections, AnotherVersionIsNamedWithItsComponent) {
  EXPECT_EQ(
      refusal([](Archive& a) { a.section("sm/load_store", 2); },
              [](Archive& a) { a.section("sm/load_store", 1); }),
      "sm[3]: the checkpoint's \"sm/load_store\" has version 2, this program reads 1 - resume "
      "with the program that wrote it");
}

TEST(Sections, AnotherSectionIsNamed) {
  EXPECT_EQ(
      refusal([](Archive& a) { a.section("sm/l1", 1); },
              [](Archive& a) { a.section("sm/load_store", 1); }),
      "sm[3]: the checkpoint has \"sm/l1\", this program reads \"sm/load_store\" - resume with "
      "the program that wrote it");
}

TEST(Sections, OneThatIsLongerThanItIsReadIsNamed) {
  std::uint64_t number = 0;
  EXPECT_EQ(
      refusal(
          [&](Archive& a) {
            a.section("sm/l1", 1);
            a(number);
            a.section("sm/load_store", 1);
          },
          [](Archive& a) {
            a.section("sm/l1", 1);
            a.section("sm/load_store", 1);
          }),
      "sm[3]: the checkpoint's \"sm/l1\" does not end where \"sm/load_store\" begins - resume "
      "with the program that wrote it");
}

TEST(Containers, ARingKeepsWhatWaitsWhereverItStood) {
  Ring<std::uint64_t> original(4), ring(4);
  for (std::uint64_t i = 0; i < 10; ++i) {
    original.push(i);
    if (i < 7) original.pop();
  }
  ring.push(99);
  restore(ring, saved(original));
  for (std::uint64_t i = 7; i < 10; ++i) {
    ASSERT_FALSE(ring.empty());
    EXPECT_EQ(ring.front(), i);
    ring.pop();
  }
  EXPECT_TRUE(ring.empty());
}

TEST(Containers, ASlotPoolKeepsItsRecordsAndTheOrderOfItsFreePlaces) {
  SlotPool<Record> original, pool;
  for (std::uint8_t i = 0; i < 4; ++i) original[original.take()] = {i, i};
  original.give_back(1);
  original.give_back(3);
  restore(pool, saved(original));
  EXPECT_EQ(pool.used(), 2u);
  EXPECT_EQ(pool[2], (Record{2, 2}));
  EXPECT_EQ(pool.take(), 3u);
  EXPECT_EQ(pool.take(), 1u);
  EXPECT_EQ(pool.take(), 4u);
}

}  // namespace
}  // namespace lockstep::archive_test
