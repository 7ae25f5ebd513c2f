#include "models/isa/reader/run_time/heap_functions.hpp"

namespace lockstep::isa {

const char* const heap_variables_text = R"(
.global .align 256 .b8 %heap[1];
.global .align 8 .u64 %heap_bytes;
.global .align 256 .b8 %heap_lists[16384];
)";

const char* const malloc_text = R"(
.func (.param .b64 result) malloc(.param .b64 bytes)
{
  .reg .pred %none, %huge, %empty, %taken, %full, %first, %more;
  .reg .b32 %zeros, %class, %state, %way, %place, %tried;
  .reg .b64 %wanted, %given, %heap_at, %limit_at, %limit, %block, %lists, %list, %head, %at, %next;
  .reg .b64 %tag, %new, %seen, %used, %end, %back;
  ld.param.b64 %wanted, [bytes];
  mov.u64 %given, 0;
  mov.u64 %heap_at, %heap;
  mov.u64 %limit_at, %heap_bytes;
  ld.global.u64 %limit, [%limit_at];
  setp.eq.u64 %none, %wanted, 0;
  @%none bra done;
  setp.gt.u64 %huge, %wanted, %limit;
  @%huge bra done;
  add.u64 %block, %wanted, 15;
  clz.b64 %zeros, %block;
  sub.u32 %class, 64, %zeros;
  max.u32 %class, %class, 5;
  mov.u64 %block, 1;
  shl.b64 %block, %block, %class;
  mov.u64 %lists, %heap_lists;
  mov.u32 %way, %laneid;
  mov.u32 %place, %warpid;
  mad.lo.u32 %way, %place, 5, %way;
  mov.u32 %place, %smid;
  mad.lo.u32 %way, %place, 11, %way;
  mov.u32 %tried, 0;
look:
  and.b32 %way, %way, 31;
  mad.lo.u32 %place, %class, 32, %way;
  mul.wide.u32 %list, %place, 8;
  add.u64 %list, %list, %lists;
  ld.volatile.global.u64 %head, [%list];
pop:
  and.b64 %at, %head, 0xffffffff;
  setp.eq.u64 %empty, %at, 0;
  @%empty bra nothing;
  shl.b64 %at, %at, 4;
  add.u64 %at, %at, %heap_at;
  ld.volatile.global.u64 %next, [%at+8];
  shr.u64 %tag, %head, 32;
  add.u64 %tag, %tag, 1;
  shl.b64 %tag, %tag, 32;
  or.b64 %new, %tag, %next;
  atom.global.cas.b64 %seen, [%list], %head, %new;
  setp.eq.u64 %taken, %seen, %head;
  mov.u64 %head, %seen;
  @!%taken bra pop;
  bra give;
nothing:
  setp.eq.u32 %first, %tried, 0;
  @!%first bra other;
  ld.volatile.global.u64 %used, [%lists];
  add.u64 %end, %used, %block;
  add.u64 %end, %end, 32;
  setp.gt.u64 %full, %end, %limit;
  @%full bra other;
  atom.global.add.u64 %used, [%lists], %block;
  add.u64 %end, %used, %block;
  add.u64 %end, %end, 32;
  setp.gt.u64 %full, %end, %limit;
  @!%full bra fits;
  neg.s64 %back, %block;
  red.global.add.u64 [%lists], %back;
other:
  add.u32 %way, %way, 1;
  add.u32 %tried, %tried, 1;
  setp.lt.u32 %more, %tried, 32;
  @%more bra look;
  bra done;
fits:
  add.u64 %at, %heap_at, %used;
  add.u64 %at, %at, 32;
give:
  or.b32 %state, %class, 0xa110c000;
  st.volatile.global.u32 [%at], %state;
  add.u64 %given, %at, 16;
done:
  st.param.b64 [result], %given;
  ret;
}
)";

const char* const free_text_of_heap = R"(
.func free(.param .b64 pointer)
{
  .reg .pred %nothing, %wrong, %put;
  .reg .b32 %class, %mark, %state, %freed, %before, %way, %place;
  .reg .b64 %given, %heap_at, %limit_at, %limit, %at, %low, %lists, %list, %head, %next, %tag;
  .reg .b64 %index, %new, %seen;
  ld.param.b64 %given, [pointer];
  setp.eq.u64 %nothing, %given, 0;
  @%nothing bra done;
  mov.u64 %heap_at, %heap;
  mov.u64 %limit_at, %heap_bytes;
  ld.global.u64 %limit, [%limit_at];
  sub.u64 %limit, %limit, 48;
  sub.u64 %low, %given, %heap_at;
  sub.u64 %low, %low, 48;
  setp.ge.u64 %wrong, %low, %limit;
  @%wrong bra mistake;
  and.b64 %low, %given, 15;
  setp.ne.u64 %wrong, %low, 0;
  @%wrong bra mistake;
  sub.u64 %at, %given, 16;
  ld.volatile.global.u32 %state, [%at];
  xor.b32 %mark, %state, 0xa110c000;
  setp.gt.u32 %wrong, %mark, 63;
  @%wrong bra mistake;
  and.b32 %class, %state, 63;
  or.b32 %freed, %class, 0xf4ee0000;
  atom.global.cas.b32 %before, [%at], %state, %freed;
  setp.ne.u32 %wrong, %before, %state;
  @%wrong bra mistake;
  mov.u64 %lists, %heap_lists;
  mov.u32 %way, %laneid;
  mov.u32 %place, %warpid;
  mad.lo.u32 %way, %place, 5, %way;
  mov.u32 %place, %smid;
  mad.lo.u32 %way, %place, 11, %way;
  and.b32 %way, %way, 31;
  mad.lo.u32 %place, %class, 32, %way;
  mul.wide.u32 %list, %place, 8;
  add.u64 %list, %list, %lists;
  sub.u64 %index, %at, %heap_at;
  shr.u64 %index, %index, 4;
  ld.volatile.global.u64 %head, [%list];
push:
  and.b64 %next, %head, 0xffffffff;
  st.volatile.global.u64 [%at+8], %next;
  membar.gl;
  shr.u64 %tag, %head, 32;
  add.u64 %tag, %tag, 1;
  shl.b64 %tag, %tag, 32;
  or.b64 %new, %tag, %index;
  atom.global.cas.b64 %seen, [%list], %head, %new;
  setp.eq.u64 %put, %seen, %head;
  mov.u64 %head, %seen;
  @!%put bra push;
done:
  ret;
mistake:
  trap;
}
)";

}  // namespace lockstep::isa
