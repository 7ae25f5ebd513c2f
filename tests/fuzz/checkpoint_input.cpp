/// A checkpoint whose parts hold anything, under the right checksums: values of all kinds are
/// restored from them, and no length is believed.
#include <array>
#include <map>

#include "core/memory/ring.hpp"
#include "core/output/checkpoint_file.hpp"
#include "tests/fuzz/cursor.hpp"
#include "tests/fuzz/inputs.hpp"

namespace lockstep {
namespace {

constexpr const char* part_names[] = {"numbers", "texts", "lists", "maps", "sections"};

struct Item {
  std::uint32_t number = 0;
  bool is_set = false;
  std::string text;
  std::optional<std::vector<std::uint16_t>> more;
  void serialize(Archive& archive) { archive(number, is_set, text, more); }
};

/// What a component may be made of.
struct State {
  std::array<std::uint64_t, 4> numbers{};
  std::string text;
  std::vector<std::string> texts;
  std::vector<bool> bits;
  std::vector<std::vector<double>> lists;
  std::deque<Item> items;
  Ring<std::uint64_t> ring;
  std::map<std::uint64_t, Item> by_number;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<Item>> by_pair;
  std::optional<Item> item;

  void restore(const std::string& part, Archive& archive) {
    if (part == "numbers") archive(numbers, bits, ring);
    if (part == "texts") archive(text, texts);
    if (part == "lists") archive(lists, items, item);
    if (part == "maps") archive(by_number, by_pair);
    if (part != "sections") return;
    archive.section("fuzz", 1);
    archive(items);
    archive.section("fuzz/further", 2);
    archive(texts, by_number);
    archive.require_length(items.size(), texts.size());
  }
};

/// Small lengths, which make lists that can be read, are as frequent as large ones.
std::vector<std::byte> content_of(Cursor& cursor) {
  std::vector<std::byte> bytes(cursor.below(200));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t word =
        cursor.below(3) == 0 ? cursor.take<std::uint64_t>() : cursor.below(4);
    for (std::size_t i = 0; i < 8 && at < bytes.size(); ++i)
      bytes[at++] = static_cast<std::byte>(word >> 8 * i & 0xff);
  }
  return bytes;
}

void write_checkpoint(const std::string& path, Cursor& cursor) {
  CheckpointWriter writer(path);
  for (const char* part : part_names) {
    if (cursor.below(12) == 0) continue;
    writer.begin(part);
    for (std::size_t chunks = cursor.below(8) == 0 ? 2 : 1; chunks > 0; --chunks)
      writer.write(content_of(cursor));  // the first of two is short
    writer.end();
  }
  writer.finish(false);
}

/// Something else in place of a part or of its checksums.
void change_checkpoint(const std::string& path, Cursor& cursor) {
  if (cursor.below(3) != 0) return;
  h5::File file = h5::File::open(path);
  const std::string folder = cursor.below(2) == 0 ? "/parts/" : "/checksums/";
  const h5::Scalar types[] = {h5::Scalar::u8, h5::Scalar::u64, h5::Scalar::f32};
  const std::vector<std::uint64_t> words(8, cursor.take<std::uint64_t>());
  const h5::Shape shapes[] = {{}, {0}, {3}, {2, 2}};
  const std::string place = folder + part_names[cursor.below(std::size(part_names))];
  if (!file.has(place))
    file.write_array(place, types[cursor.below(3)], shapes[cursor.below(4)], words.data());
  file.close();
}

}  // namespace

void checkpoint_input(const std::string& bytes) {
  Cursor cursor(bytes);
  const std::string path = scratch_file(".checkpoint");
  write_checkpoint(path, cursor);
  change_checkpoint(path, cursor);
  refused_well([&] {
    CheckpointReader reader(path);
    refused_well([&] { reader.digest(); });
    for (const char* part : part_names)
      refused_well([&] {
        State state;
        restore_part(reader, part, [&](Archive& archive) { state.restore(part, archive); });
      });
  });
}

}  // namespace lockstep
