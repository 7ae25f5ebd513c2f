/// Kernel that brings a tile to shared memory, shows shared memory, and puts the tile back.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "models/isa/bulk/tensor_map.hpp"
#include "tests/unit/isa/bulk/random_tile.hpp"

namespace lockstep::isa {

inline constexpr std::uint8_t tile_background = 0x5a;

enum class MapSpace : std::uint8_t { parameter, global };

/// Two maps side by side, that of the load and that of the store, and coordinates.
struct TileArguments {
  std::array<std::byte, 256> maps{};
  std::array<std::int32_t, 5> first{};
  std::uint64_t shift = 0;  ///< of maps in global memory

  TileArguments(const RandomTile& tile, const TensorMap& back) : first(tile.first) {
    put(0, tile.map);
    put(128, back);
  }
  template <class Change>
  void change(Change&& change) {
    TensorMap::Bytes bytes;
    std::memcpy(bytes.data(), maps.data(), bytes.size());
    TensorMap map = decode(bytes);
    change(map);
    put(0, map);
  }

 private:
  void put(std::size_t at, const TensorMap& map) {
    const TensorMap::Bytes bytes = encode(map);
    std::memcpy(maps.data() + at, bytes.data(), bytes.size());
  }
};

/// Returns the line of the load in the kernel's text.
inline std::string load_line_of(const std::string& text) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find("cp.async.bulk.tensor"));
  return std::to_string(1 + std::count(text.begin(), end, '\n'));
}

/// k(maps, address of maps in global memory, image, coordinates, place in shared memory, bytes) for
/// 32 threads.
inline std::string tile_kernel(unsigned rank, MapSpace space) {
  std::string coordinates;
  for (unsigned d = 0; d < rank; ++d) coordinates += (d == 0 ? "%c" : ", %c") + std::to_string(d);
  const std::string dimensions = std::to_string(rank) + "d";
  const std::string at = space == MapSpace::parameter ? "cvta.param.u64 %rd1, %rd5;" : "";
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 maps[256], .param .u64 global_maps, .param .u64 image,
.param .align 4 .b8 first[20], .param .u32 place, .param .u32 bytes)
{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b32 %c<5>; .reg .b64 %rd<9>;
.shared .align 1024 .b8 room[16384];
.shared .align 8 .b64 gate;
ld.param.u64 %rd1, [global_maps];
ld.param.u64 %rd2, [image];
ld.param.u32 %c0, [first];
ld.param.u32 %c1, [first+4];
ld.param.u32 %c2, [first+8];
ld.param.u32 %c3, [first+12];
ld.param.u32 %c4, [first+16];
ld.param.u32 %r0, [place];
ld.param.u32 %r1, [bytes];
mov.b64 %rd5, maps;
)" + at + R"(
mov.u32 %r2, %tid.x;
mov.u32 %r3, room;
add.u32 %r0, %r0, %r3;
shl.b32 %r4, %r2, 2;
mov.u32 %r5, %r4;
set:
add.u32 %r6, %r5, %r3;
st.shared.u32 [%r6], 0x5a5a5a5a;
add.u32 %r5, %r5, 128;
setp.lt.u32 %p1, %r5, 16384;
@%p1 bra set;
setp.ne.u32 %p2, %r2, 0;
@%p2 bra after;
mbarrier.init.shared.b64 [gate], 1;
fence.mbarrier_init.release.cluster;
after:
bar.sync 0;
@%p2 bra wait;
fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared.b64 %rd3, [gate], %r1;
cp.async.bulk.tensor.)" +
         dimensions + ".shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd1, {" +
         coordinates +
         R"(}], [gate];
wait:
mbarrier.try_wait.parity.shared.b64 %p3, [gate], 0;
@!%p3 bra wait;
mov.u32 %r5, %r4;
show:
add.u32 %r6, %r5, %r3;
ld.shared.u32 %r7, [%r6];
cvt.u64.u32 %rd4, %r5;
add.u64 %rd4, %rd4, %rd2;
st.global.u32 [%rd4], %r7;
add.u32 %r5, %r5, 128;
setp.lt.u32 %p1, %r5, 16384;
@%p1 bra show;
@%p2 bra done;
cp.async.bulk.tensor.)" +
         dimensions + ".global.shared::cta.tile.bulk_group [%rd1+128, {" + coordinates +
         R"(}], [%r0];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:
ret;
}
)";
}

}  // namespace lockstep::isa
