/// Kernels that fill and copy device memory, like those of a driver: 16 bytes a thread where both
/// ends are aligned, single bytes elsewhere.
#pragma once

namespace lockstep::capture {

inline constexpr const char* copy_kernels = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry lockstep_fill_16(.param .u64 to, .param .u64 count, .param .u32 value)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	shl.b64 %d5, %d3, 4;
	add.s64 %d4, %d4, %d5;
	st.global.v4.u32 [%d4], {%r1, %r1, %r1, %r1};
done:
	ret;
}

.visible .entry lockstep_fill_1(.param .u64 to, .param .u64 count, .param .u32 value)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	add.s64 %d4, %d4, %d3;
	st.global.u8 [%d4], %r1;
done:
	ret;
}

.visible .entry lockstep_fill_2(.param .u64 to, .param .u64 count, .param .u32 value)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	shl.b64 %d5, %d3, 1;
	add.s64 %d4, %d4, %d5;
	st.global.u16 [%d4], %r1;
done:
	ret;
}

.visible .entry lockstep_fill_4(.param .u64 to, .param .u64 count, .param .u32 value)
{
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u32 %r1, [value];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	shl.b64 %d5, %d3, 2;
	add.s64 %d4, %d4, %d5;
	st.global.u32 [%d4], %r1;
done:
	ret;
}

.visible .entry lockstep_copy_16(.param .u64 to, .param .u64 count, .param .u64 from)
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u64 %d6, [from];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	cvta.to.global.u64 %d7, %d6;
	shl.b64 %d5, %d3, 4;
	add.s64 %d4, %d4, %d5;
	add.s64 %d7, %d7, %d5;
	ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d7];
	st.global.v4.u32 [%d4], {%r5, %r6, %r7, %r8};
done:
	ret;
}

.visible .entry lockstep_copy_1(.param .u64 to, .param .u64 count, .param .u64 from)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [to];
	ld.param.u64 %d2, [count];
	ld.param.u64 %d6, [from];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	cvt.u64.u32 %d3, %r4;
	mad.wide.u32 %d3, %r2, %r3, %d3;
	setp.ge.u64 %p1, %d3, %d2;
	@%p1 bra done;
	cvta.to.global.u64 %d4, %d1;
	cvta.to.global.u64 %d7, %d6;
	add.s64 %d4, %d4, %d3;
	add.s64 %d7, %d7, %d3;
	ld.global.u8 %r5, [%d7];
	st.global.u8 [%d4], %r5;
done:
	ret;
}
)";

}  // namespace lockstep::capture
