/// CoCoA, contiguity-conserving allocation: owners of large frames and of their pages.
///
/// A large frame (2 MiB) has one owner, a tenant or the driver with its page tables, and pages go
/// into frames of their owner.  A region of 2 MiB of addresses gets a frame in which each of its
/// pages keeps its place, so that they can become a large page without moving.  Other pages come
/// from the owner's free base pages, then from a free large frame.  The guarantee is soft: when
/// neither is left, pages come from places kept for regions, from frames with foreign pages
/// (foreign_pages.hpp), from frames of other owners, and last from frames that are being emptied.
/// Source: 004, sections 7.3.1 and 7.3.2; memory-interference.md, section 6.3.2.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/driver/page_manager/mosaic/page_set.hpp"
#include "models/noc/address.hpp"

namespace lockstep {

class LargeFrames {
 public:
  using Owner = std::uint32_t;
  static constexpr Owner nobody = ~Owner{0};
  static constexpr std::uint64_t no_region = ~std::uint64_t{0};

  struct LargeFrame {
    Owner owner = nobody;
    /// Region (address / 2 MiB) whose pages keep their places in this frame.
    std::uint64_t region = no_region;
    PageSet taken;        ///< places given out
    PageSet there;        ///< places of pages that are mapped and have their data
    PageSet holes;        ///< places that were freed while the frame is one large page
    PageSet foreign;      ///< places taken by foreign pages
    bool locked = false;  ///< true: no page may come in
    /// Returns the number of pages that have a user.
    std::uint64_t used() const { return taken.count() - holes.count(); }
    template <class Archive>
    void serialize(Archive& archive) {
      archive(owner, region, taken, there, holes, foreign, locked);
    }
  };

  /// Makes the frames. The last owner owns frames with foreign pages.
  LargeFrames(std::uint64_t capacity, std::size_t owners);

  const LargeFrame& operator[](std::uint32_t number) const { return frames_[number]; }
  static std::uint32_t number_of(PhysicalAddress address) {
    return static_cast<std::uint32_t>(address.value() / large_page_bytes);
  }
  static std::uint64_t place_of(PhysicalAddress address) {
    return address.value() % large_page_bytes / page_bytes;
  }
  static PhysicalAddress address_of(std::uint32_t number, std::uint64_t place = 0) {
    return PhysicalAddress{number * large_page_bytes + place * page_bytes};
  }

  /// Takes a whole free frame for 2 MiB of addresses; nothing if there is no free frame.
  std::optional<PhysicalAddress> take_region(Owner owner, std::uint64_t region);
  /// Takes a page at its place in the frame of its region, or elsewhere.  Precondition: there is a
  /// free page.
  PhysicalAddress take_in_region(Owner owner, VirtualPage page);
  /// Takes a free base page.
  PhysicalAddress take(Owner owner);
  /// Lets a foreign page take a place.
  void take_foreign(PhysicalAddress page);
  void release(PhysicalAddress page);
  void leave_hole(PhysicalAddress page) { at(page).holes.add(place_of(page)); }
  /// Locks the frame: until it is unlocked it belongs to no region and gives out no page.
  void lock(std::uint32_t number);
  void unlock(std::uint32_t number);
  /// Returns a place for a page in one of the owner's frames in which no places are kept, the
  /// fullest first, at an address for which `fits` is true; nothing if there is none.
  template <class Fits>
  std::optional<PhysicalAddress> take_fitting(Owner owner, Fits&& fits) {
    std::optional<PhysicalAddress> best;
    std::uint64_t most = 0;
    for (const std::uint32_t number : open_[owner]) {
      const PageSet& taken = frames_[number].taken;
      const std::uint64_t count = taken.count();
      if (best && count <= most) continue;
      for (std::uint64_t place = taken.next_missing(); place < pages_per_large;
           place = taken.next_missing(place + 1)) {
        if (!fits(address_of(number, place))) continue;
        best = address_of(number, place);
        most = count;
        break;
      }
    }
    if (best) take_at(number_of(*best), place_of(*best));
    return best;
  }
  /// Notes that the page's data have come.
  void arrived(PhysicalAddress page) { at(page).there.add(place_of(page)); }

  /// Returns the number of pages that came into frames of another owner since the last call.
  std::uint64_t take_violations() { return std::exchange(violations_, 0); }
  std::size_t free_frames() const { return free_.size(); }
  bool has_base_pages(Owner owner) const { return !open_[owner].empty(); }
  bool has_base_pages() const;
  /// Returns the frames with foreign pages and room, the fullest first.
  std::vector<std::uint32_t> foreign_frames() const;
  bool has_region(Owner owner, std::uint64_t region) const {
    return of_region_.contains({owner, region});
  }
  /// Places in its frames that no page lies in.
  std::uint64_t unused(Owner owner) const {
    return owned_[owner] * pages_per_large - pages_[owner];
  }
  /// Returns the number of large frames that an owner has.
  std::uint64_t owned(Owner owner) const { return owned_[owner]; }

  void serialize(Archive& archive);

 private:
  using Numbers = std::set<std::uint32_t>;
  using Region = std::pair<Owner, std::uint64_t>;

  LargeFrame& at(PhysicalAddress page) { return frames_[number_of(page)]; }
  void give(std::uint32_t number, Owner owner, std::uint64_t region);
  /// Gives a free frame to the owner.
  std::optional<std::uint32_t> take_free(Owner owner, std::uint64_t region);
  std::optional<std::uint32_t> frame_with_room(Owner owner);
  PhysicalAddress take_at(std::uint32_t number, std::uint64_t place);
  /// Puts the frame into the list of its state. A frame without pages loses its owner.
  void list(std::uint32_t number);
  void unlist(std::uint32_t number);
  void relist();

  std::vector<LargeFrame> frames_;
  Numbers free_;
  std::vector<Numbers> open_;  ///< frames of each owner with free base pages for any page
  std::vector<Numbers> kept_;  ///< frames of each owner for regions with free places
  Numbers locked_;
  std::map<Region, std::uint32_t> of_region_;
  std::vector<std::uint64_t> owned_;  ///< number of frames of each owner
  std::vector<std::uint64_t> pages_;  ///< number of pages in the frames of each owner
  std::uint64_t violations_ = 0;
};

}  // namespace lockstep
