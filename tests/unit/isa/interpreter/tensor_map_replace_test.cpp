/// Programs that change their tensor maps.
#include <algorithm>
#include <functional>

#include "core/error/error.hpp"
#include "models/isa/bulk/tensor_map.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::tensor_map_replace_test {
namespace {

LOCKSTEP_BOTH_FORMS(ReplacedTensorMaps);

TensorMap small_map() {
  TensorMap map;
  map.address = 0x7f00'1234'5670;
  map.rank = 3;
  map.type = TensorType::f16;
  map.size = {16, 16, 4, 1, 1};
  map.stride = {0, 32, 512, 0, 0};
  map.box = {16, 8, 2, 1, 1};
  return map;
}

/// The map after thread 0 has executed the lines; %rd1 points to it.
TensorMap replaced(const std::string& lines, bool lowered) {
  IsaBench bench(kernel_text(lines + "\nret;"), lowered);
  const TensorMap::Bytes bytes = encode(small_map());
  const std::uint64_t at = bench.buffer(std::vector<std::byte>(bytes.begin(), bytes.end()));
  bench.run("k", {1, 1, 1}, {1, 1, 1}, at);
  const auto got = bench.values<std::byte>(at, TensorMap::bytes);
  TensorMap::Bytes now;
  std::copy(got.begin(), got.end(), now.begin());
  EXPECT_EQ(mistake_in_bytes(now), "") << lines;
  return decode(now);
}

TEST_P(ReplacedTensorMaps, HaveTheNewFieldAndAllOthersAsTheyWere) {
  struct Case {
    std::string field, value;
    std::function<void(TensorMap&)> change;
  };
  for (const Case& each : {
           Case{"global_address.global.b1024.b64", "0x1122334455667780",
                [](TensorMap& map) { map.address = 0x1122334455667780; }},
           Case{"rank.b1024.b32", "1",
                [](TensorMap& map) {
                  map.rank = 2;
                  map.size[2] = map.box[2] = 1;
                  map.stride[2] = 0;
                }},
           Case{"box_dim.global.b1024.b32", "1, 5", [](TensorMap& map) { map.box[1] = 5; }},
           Case{"box_dim.global.b1024.b32", "0, 8", [](TensorMap& map) { map.box[0] = 8; }},
           Case{"global_dim.global.b1024.b32", "2, 70000",
                [](TensorMap& map) { map.size[2] = 70000; }},
           Case{"global_stride.global.b1024.b64", "0, 48",
                [](TensorMap& map) { map.stride[1] = 48; }},
           Case{"global_stride.global.b1024.b64", "1, 0x123456780",
                [](TensorMap& map) { map.stride[2] = 0x123456780; }},
           Case{"element_stride.global.b1024.b32", "1, 3", [](TensorMap& map) { map.step[1] = 3; }},
           Case{"elemtype.global.b1024.b32", "10",
                [](TensorMap& map) { map.type = TensorType::bf16; }},
           Case{"swizzle_mode.global.b1024.b32", "1",
                [](TensorMap& map) { map.swizzle = Swizzle::bytes_32; }},
           Case{"fill_mode.global.b1024.b32", "1", [](TensorMap& map) { map.fills_nan = true; }},
           Case{"interleave_layout.global.b1024.b32", "0", [](TensorMap&) {}},
       }) {
    TensorMap expected = small_map();
    each.change(expected);
    EXPECT_EQ(replaced("tensormap.replace.tile." + each.field + " [%rd1], " + each.value + ";",
                       GetParam()),
              expected)
        << each.field;
  }
}

TEST_P(ReplacedTensorMaps, GoFromSharedMemoryByAWarp) {
  IsaBench bench(kernel_text(R"(.shared .align 128 .b8 room[128];
.reg .b32 %s<4>; .reg .b64 %t<4>;
mov.u32 %s1, room;
shl.b32 %s2, %r1, 2;
add.u32 %s1, %s1, %s2;
ld.global.u32 %s3, [%rd2];
st.shared.u32 [%s1], %s3;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra all;
mov.u64 %t1, room;
tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%t1], 0, 9;
all:
bar.sync 0;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1+128], [room], 128;
fence.proxy.tensormap::generic.acquire.gpu [%rd1+128], 128;
ret;)"),
                 GetParam());
  std::vector<std::byte> both(256);
  const TensorMap::Bytes bytes = encode(small_map());
  std::copy(bytes.begin(), bytes.end(), both.begin());
  const std::uint64_t at = bench.buffer(both);
  bench.run("k", {1, 1, 1}, {32, 1, 1}, at);
  TensorMap expected = small_map();
  expected.size[0] = 9;
  const auto got = bench.values<std::byte>(at + 128, TensorMap::bytes);
  TensorMap::Bytes now;
  std::copy(got.begin(), got.end(), now.begin());
  EXPECT_EQ(decode(now), expected);
}

TEST(ReplacedTensorMapErrors, AreToldWhereTheyStand) {
  for (const auto& [line, part] :
       {std::pair("tensormap.replace.tile.global_dim.b1024.b32 [%rd1], 5, 1;", "no such dimension"),
        std::pair("tensormap.replace.tile.global_stride.b1024.b64 [%rd1], 4, 16;",
                  "no such dimension"),
        std::pair("tensormap.replace.tile.swizzle_mode.b1024.b32 [%rd1], 4;",
                  "is not modelled with this value"),
        std::pair("tensormap.replace.tile.colour.b1024.b32 [%rd1], 4;", "has no such field"),
        std::pair("tensormap.replace.im2col.rank.b1024.b32 [%rd1], 4;", "needs .tile")}) {
    try {
      load_module_text(kernel_text(std::string(line) + "\nret;"), "test.ptx");
      ADD_FAILURE() << line;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("test.ptx:16:"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace lockstep::isa::tensor_map_replace_test
