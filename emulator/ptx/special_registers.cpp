// The special registers that the interpreter knows; others are refused as unknown.
#include "emulator/ptx/special_registers.h"

#include <array>

namespace fp8jit::emulator {

static constexpr std::array kSpecialRegisters = {
    SpecialRegister{"%tid.x", Special::TidX},
    SpecialRegister{"%tid.y", Special::TidY},
    SpecialRegister{"%tid.z", Special::TidZ},
    SpecialRegister{"%ntid.x", Special::NtidX},
    SpecialRegister{"%ntid.y", Special::NtidY},
    SpecialRegister{"%ntid.z", Special::NtidZ},
    SpecialRegister{"%ctaid.x", Special::CtaidX},
    SpecialRegister{"%ctaid.y", Special::CtaidY},
    SpecialRegister{"%ctaid.z", Special::CtaidZ},
    SpecialRegister{"%nctaid.x", Special::NctaidX},
    SpecialRegister{"%nctaid.y", Special::NctaidY},
    SpecialRegister{"%nctaid.z", Special::NctaidZ},
    SpecialRegister{"%laneid", Special::LaneId},
    SpecialRegister{"%warpid", Special::WarpId},
    SpecialRegister{"%nwarpid", Special::NWarpId},
    SpecialRegister{"%smid", Special::SmId},
    SpecialRegister{"%nsmid", Special::NSmId},
    SpecialRegister{"%clusterid.x", Special::ClusteridX},
    SpecialRegister{"%clusterid.y", Special::ClusteridY},
    SpecialRegister{"%clusterid.z", Special::ClusteridZ},
    SpecialRegister{"%nclusterid.x", Special::NClusteridX},
    SpecialRegister{"%nclusterid.y", Special::NClusteridY},
    SpecialRegister{"%nclusterid.z", Special::NClusteridZ},
    SpecialRegister{"%cluster_ctaid.x", Special::ClusterCtaidX},
    SpecialRegister{"%cluster_ctaid.y", Special::ClusterCtaidY},
    SpecialRegister{"%cluster_ctaid.z", Special::ClusterCtaidZ},
    SpecialRegister{"%cluster_nctaid.x", Special::ClusterNctaidX},
    SpecialRegister{"%cluster_nctaid.y", Special::ClusterNctaidY},
    SpecialRegister{"%cluster_nctaid.z", Special::ClusterNctaidZ},
    SpecialRegister{"%cluster_ctarank", Special::ClusterCtarank},
    SpecialRegister{"%cluster_nctarank", Special::ClusterNctarank},
    SpecialRegister{"%is_explicit_cluster", Special::IsExplicitCluster, 1},
    SpecialRegister{"%aggr_smem_size", Special::AggrSmemSize},
    SpecialRegister{"%gridid", Special::GridId, 64},
    SpecialRegister{"%lanemask_eq", Special::LaneMaskEq},
    SpecialRegister{"%lanemask_lt", Special::LaneMaskLt},
    SpecialRegister{"%lanemask_le", Special::LaneMaskLe},
    SpecialRegister{"%lanemask_gt", Special::LaneMaskGt},
    SpecialRegister{"%lanemask_ge", Special::LaneMaskGe},
    SpecialRegister{"%dynamic_smem_size", Special::DynamicSmemSize},
    SpecialRegister{"%total_smem_size", Special::TotalSmemSize},
    SpecialRegister{"%clock", Special::Clock},
    SpecialRegister{"%clock_hi", Special::ClockHi},
    SpecialRegister{"%clock64", Special::Clock64, 64},
    SpecialRegister{"%globaltimer", Special::GlobalTimer, 64},
    SpecialRegister{"%globaltimer_lo", Special::GlobalTimerLo},
    SpecialRegister{"%globaltimer_hi", Special::GlobalTimerHi},
};

const SpecialRegister *findSpecialRegister(std::string_view name) {
  for (const SpecialRegister &special : kSpecialRegisters) {
    if (special.name == name) {
      return &special;
    }
  }
  return nullptr;
}

} // namespace fp8jit::emulator
