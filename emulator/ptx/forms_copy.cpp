// Rows for asynchronous copies: cp.async, bulk copies, tensor copies and tensor maps (PTX ISA
// 9.7.9.25 to 9.7.9.28).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kCopyRows = {
    // bytes; bytes and source bytes; bytes and a predicate that suppresses the read
    Form{"cp", "async ca @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes c", Op::CpAsync, 80},
    Form{"cp", "async ca @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes s:u32 c", Op::CpAsync, 80},
    Form{"cp", "async ca @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes sp c", Op::CpAsync, 80},
    Form{"cp", "async cg @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes c", Op::CpAsync, 80, 16},
    Form{"cp", "async cg @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes s:u32 c", Op::CpAsync, 80, 16},
    Form{"cp", "async cg @direction:shared.global,shared::cta.global ?L2::cache_hint ?@l2", "m m i:copyBytes sp c", Op::CpAsync, 80, 16},
    Form{"cp", "async commit_group", "", Op::CpAsyncCommit, 80},
    Form{"cp", "async wait_group", "i", Op::CpAsyncWait, 80},
    Form{"cp", "async wait_all", "", Op::CpAsyncWaitAll, 80},
    Form{"cp", "async mbarrier arrive ?noinc ?@space:shared,shared::cta T:b64", "m", Op::CpAsyncMbarrierArrive, 80},

    Form{"cp", "async bulk @direction:shared::cluster.global,shared::cta.global mbarrier::complete_tx::bytes ?multicast::cluster ?L2::cache_hint", "m m s:u32 a u c", Op::BulkCopy, 90},
    Form{"cp", "async bulk @direction:shared::cluster.shared::cta mbarrier::complete_tx::bytes", "m m s:u32 a", Op::BulkCopy, 90},
    Form{"cp", "async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint", "m m s:u32 c", Op::BulkCopy, 90},
    Form{"cp", "async bulk prefetch L2 global ?L2::cache_hint", "m s:u32 c", Op::BulkPrefetch, 90},
    Form{"cp", "async bulk commit_group", "", Op::BulkCommit, 90},
    Form{"cp", "async bulk wait_group ?read", "i", Op::BulkWait, 90},
    Form{"cp", "reduce async bulk @direction:shared::cluster.shared::cta mbarrier::complete_tx::bytes @atomic:and,or,xor T:b32", "m m s:u32 a", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:shared::cluster.shared::cta mbarrier::complete_tx::bytes @atomic:add T:u32,s32,u64", "m m s:u32 a", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:shared::cluster.shared::cta mbarrier::complete_tx::bytes @atomic:min,max T:u32,s32", "m m s:u32 a", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:shared::cluster.shared::cta mbarrier::complete_tx::bytes @atomic:inc,dec T:u32", "m m s:u32 a", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint @atomic:and,or,xor T:b32,b64", "m m s:u32 c", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint @atomic:add T:u32,s32,u64,f32,f64", "m m s:u32 c", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint @atomic:add noftz T:f16,bf16", "m m s:u32 c", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint @atomic:min,max T:u32,s32,u64,s64,f16,bf16", "m m s:u32 c", Op::BulkReduce, 90},
    Form{"cp", "reduce async bulk @direction:global.shared::cta bulk_group ?L2::cache_hint @atomic:inc,dec T:u32", "m m s:u32 c", Op::BulkReduce, 90},

    Form{"cp", "async bulk tensor @dimensions @direction:shared::cluster.global,shared::cta.global ?tile mbarrier::complete_tx::bytes ?multicast::cluster ?L2::cache_hint", "m t a u c", Op::TensorLoad, 90},
    Form{"cp", "async bulk tensor @dimensions @direction:global.shared::cta ?tile bulk_group ?L2::cache_hint", "t m c", Op::TensorStore, 90},
    Form{"cp", "reduce async bulk tensor @dimensions @direction:global.shared::cta @atomic:add,min,max,inc,dec,and,or,xor ?tile bulk_group ?L2::cache_hint", "t m c", Op::TensorReduce, 90},
    Form{"cp", "async bulk prefetch tensor @dimensions L2 global ?tile ?L2::cache_hint", "t c", Op::TensorPrefetch, 90},

    Form{"tensormap", "replace tile @mapField:global_address ?@space:global,shared::cta b1024 T:b64", "m sT", Op::TensormapReplace, kFrom90a},
    Form{"tensormap", "replace tile @mapField:rank ?@space:global,shared::cta b1024 T:b32", "m sT", Op::TensormapReplace, kFrom90a},
    Form{"tensormap", "replace tile @mapField:box_dim,global_dim,element_stride ?@space:global,shared::cta b1024 T:b32", "m i:ordinal sT", Op::TensormapReplace, kFrom90a},
    Form{"tensormap", "replace tile @mapField:global_stride ?@space:global,shared::cta b1024 T:b64", "m i:ordinal sT", Op::TensormapReplace, kFrom90a},
    Form{"tensormap", "replace tile @mapField:elemtype,interleave_layout,swizzle_mode,fill_mode ?@space:global,shared::cta b1024 T:b32", "m sT", Op::TensormapReplace, kFrom90a},
    Form{"tensormap", "cp_fenceproxy @direction:global.shared::cta tensormap::generic @order:release @scope sync aligned", "m m i:mapBytes", Op::TensormapCopy, 90},
};
// clang-format on

std::span<const Form> copyForms() {
  return kCopyRows;
}

} // namespace fp8jit::emulator
