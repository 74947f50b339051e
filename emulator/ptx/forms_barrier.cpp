// Rows for barriers, mbarrier objects, fences, clusters and launch control (PTX ISA 9.7.13).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

static constexpr std::int64_t fence(ProxyFence kind) {
  return static_cast<std::int64_t>(kind);
}

// clang-format off
static constexpr std::array kBarrierRows = {
    Form{"bar", "warp sync", "s:b32", Op::BarWarpSync, 30},
    Form{"bar", "?cta sync", "s:u32", Op::BarSync},
    Form{"bar", "?cta sync", "s:u32 s:u32", Op::BarSync},
    Form{"bar", "?cta arrive", "s:u32 s:u32", Op::BarArrive},
    Form{"bar", "?cta red popc T:u32", "dT s:u32 sp", Op::BarRed},
    Form{"bar", "?cta red popc T:u32", "dT s:u32 s:u32 sp", Op::BarRed},
    Form{"bar", "?cta red @bool:and,or T:pred", "dp s:u32 sp", Op::BarRed},
    Form{"bar", "?cta red @bool:and,or T:pred", "dp s:u32 s:u32 sp", Op::BarRed},
    Form{"barrier", "?cta sync ?aligned", "s:u32", Op::BarSync, 30},
    Form{"barrier", "?cta sync ?aligned", "s:u32 s:u32", Op::BarSync, 30},
    Form{"barrier", "?cta arrive ?aligned", "s:u32 s:u32", Op::BarArrive, 30},
    Form{"barrier", "?cta red popc ?aligned T:u32", "dT s:u32 sp", Op::BarRed, 30},
    Form{"barrier", "?cta red popc ?aligned T:u32", "dT s:u32 s:u32 sp", Op::BarRed, 30},
    Form{"barrier", "?cta red @bool:and,or ?aligned T:pred", "dp s:u32 sp", Op::BarRed, 30},
    Form{"barrier", "?cta red @bool:and,or ?aligned T:pred", "dp s:u32 s:u32 sp", Op::BarRed, 30},
    Form{"barrier", "cluster arrive ?@order:release,relaxed ?aligned", "", Op::ClusterArrive, 90},
    Form{"barrier", "cluster wait ?@order:acquire ?aligned", "", Op::ClusterWait, 90},

    Form{"membar", "@membar", "", Op::Membar},
    Form{"fence", "?@order:sc,acq_rel @scope", "", Op::Membar, 70},
    Form{"fence", "@order:acquire,release @scope", "", Op::Membar, 90},
    Form{"fence", "mbarrier_init @order:release @scope:cluster", "", Op::FenceProxy, 90, fence(ProxyFence::MbarrierInit)},
    Form{"fence", "proxy alias", "", Op::FenceProxy, 70, fence(ProxyFence::Alias)},
    Form{"fence", "proxy async", "", Op::FenceProxy, 90, fence(ProxyFence::Async)},
    Form{"fence", "proxy async global", "", Op::FenceProxy, 90, fence(ProxyFence::AsyncGlobal)},
    Form{"fence", "proxy async @space:shared::cta,shared::cluster", "", Op::FenceProxy, 90, fence(ProxyFence::AsyncShared)},
    Form{"fence", "proxy tensormap::generic @order:release @scope", "", Op::FenceProxy, 90, fence(ProxyFence::TensormapRelease)},
    Form{"fence", "proxy tensormap::generic @order:acquire @scope", "a i:mapBytes", Op::FenceProxy, 90, fence(ProxyFence::TensormapAcquire)},

    Form{"mbarrier", "init ?@space:shared,shared::cta T:b64", "m s:u32", Op::MbarrierInit, 80},
    Form{"mbarrier", "inval ?@space:shared,shared::cta T:b64", "m", Op::MbarrierInval, 80},
    Form{"mbarrier", "expect_tx ?@order:relaxed ?@scope:cta,cluster ?@space:shared,shared::cta,shared::cluster T:b64", "m s:u32", Op::MbarrierExpectTx, 90},
    Form{"mbarrier", "complete_tx ?@order:relaxed ?@scope:cta,cluster ?@space:shared,shared::cta,shared::cluster T:b64", "m s:u32", Op::MbarrierCompleteTx, 90},
    // a state as the result, or none: the only form for another block's barrier
    Form{"mbarrier", "arrive ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m", Op::MbarrierArrive, 80},
    Form{"mbarrier", "arrive ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m s:u32", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive expect_tx ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 90, 1},
    Form{"mbarrier", "arrive expect_tx ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m s:u32", Op::MbarrierArrive, 90, 1},
    Form{"mbarrier", "arrive noComplete ?@order:release ?@scope:cta ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 80},
    Form{"mbarrier", "arrive_drop ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m", Op::MbarrierArrive, 80},
    Form{"mbarrier", "arrive_drop ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive_drop ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive_drop ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m s:u32", Op::MbarrierArrive, 90},
    Form{"mbarrier", "arrive_drop expect_tx ?@order:release,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 90, 1},
    Form{"mbarrier", "arrive_drop expect_tx ?@order:release,relaxed ?@scope:cta,cluster @space:shared::cluster T:b64", "o m s:u32", Op::MbarrierArrive, 90, 1},
    Form{"mbarrier", "arrive_drop noComplete ?@order:release ?@scope:cta ?@space:shared,shared::cta T:b64", "d:b64 m s:u32", Op::MbarrierArrive, 80},
    Form{"mbarrier", "test_wait ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:b64", Op::MbarrierWait, 80},
    Form{"mbarrier", "test_wait parity ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:u32", Op::MbarrierWait, 80},
    Form{"mbarrier", "try_wait ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:b64", Op::MbarrierWait, 90},
    Form{"mbarrier", "try_wait ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:b64 x:u32", Op::MbarrierWait, 90},
    Form{"mbarrier", "try_wait parity ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:u32", Op::MbarrierWait, 90},
    Form{"mbarrier", "try_wait parity ?@order:acquire,relaxed ?@scope:cta,cluster ?@space:shared,shared::cta T:b64", "dp m s:u32 x:u32", Op::MbarrierWait, 90},
    Form{"mbarrier", "pending_count T:b64", "d:b32 sT", Op::MbarrierPendingCount, 80},

    Form{"mapa", "?@space:shared::cluster T:u32,u64", "dT sT s:u32", Op::Mapa, 90},
    Form{"getctarank", "?@space:shared::cluster T:u32,u64", "d:u32 sT", Op::GetCtaRank, 90},
    Form{"elect", "sync", "d:b32|dp? s:b32", Op::Elect, 90},
    Form{"setmaxnreg", "inc sync aligned T:u32", "i:registers", Op::SetMaxNReg, kFrom90a},
    Form{"setmaxnreg", "dec sync aligned T:u32", "i:registers", Op::SetMaxNReg, kFrom90a},
    Form{"griddepcontrol", "wait", "", Op::GridDependencyWait, 90},
    Form{"griddepcontrol", "launch_dependents", "", Op::GridDependencyLaunch, 90},
};
// clang-format on

std::span<const Form> barrierForms() {
  return kBarrierRows;
}

} // namespace fp8jit::emulator
