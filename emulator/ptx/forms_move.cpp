// Rows for mov, cvta and cvt (PTX ISA 9.7.9).
#include "emulator/ptx/forms.h"

namespace fp8jit::emulator {

// clang-format off
static constexpr std::array kMoveRows = {
    Form{"mov", "T:b16,b32,b64,b128,u16,u32,u64,s16,s32,s64,f16,f16x2,bf16,bf16x2,f32,f64", "dT sT", Op::Mov},
    Form{"mov", "T:pred", "dp sp", Op::Mov},
    Form{"mov", "T:b16,b32,b64,b128", "dT sE", Op::MovPack},
    Form{"mov", "T:b16,b32,b64,b128", "dE sT", Op::MovUnpack},

    Form{"cvta", "@space:global,shared,shared::cta,local,const,param T:u32,u64", "dT sT", Op::Cvta},
    Form{"cvta", "to @space:global,shared,shared::cta,local,const,param T:u32,u64", "dT sT", Op::CvtaTo},
    Form{"isspacep", "@space:global,shared,shared::cta,local,const,param", "dp sA", Op::IsSpacep},

    // between integers
    Form{"cvt", "?sat T:int8 S:int8", "dT+ sS+", Op::Cvt},
    // from and to integers
    Form{"cvt", "@rounding:rni,rzi,rmi,rpi ?ftz ?sat T:int8 S:f16,f32,f64", "dT+ sS", Op::Cvt},
    Form{"cvt", "@rounding:rni,rzi,rmi,rpi ?sat T:int8 S:bf16", "dT+ sS", Op::Cvt, 90},
    Form{"cvt", "@rounding:rn,rz,rm,rp ?ftz ?sat T:f16,f32,f64 S:int8", "dT sS+", Op::Cvt},
    Form{"cvt", "@rounding:rn,rz,rm,rp T:bf16 S:int8", "dT sS+", Op::Cvt, 90},
    // two integers, saturated to 16 or 8 bits, into one register
    Form{"cvt", "pack sat T:u16,s16 S:s32", "d:b32 sS sS", Op::CvtPack, 72},
    Form{"cvt", "pack sat T:u8,s8 S:s32 A:b32", "d:b32 sS sS s:b32", Op::CvtPack, 72},
    // widening
    Form{"cvt", "?ftz ?sat T:f32 S:f16", "dT sS", Op::Cvt},
    Form{"cvt", "?ftz ?sat T:f64 S:f16,f32", "dT sS", Op::Cvt},
    Form{"cvt", "?ftz T:f32 S:bf16", "dT sS", Op::Cvt, 80},
    Form{"cvt", "T:f64 S:bf16", "dT sS", Op::Cvt, 90},
    // narrowing
    Form{"cvt", "@rounding:rn,rz,rm,rp ?ftz ?sat T:f16 S:f32", "dT sS", Op::Cvt},
    Form{"cvt", "@rounding:rn,rz relu ?satfinite T:f16 S:f32", "dT sS", Op::Cvt, 80},
    Form{"cvt", "@rounding:rn,rz satfinite T:f16 S:f32", "dT sS", Op::Cvt, 80},
    Form{"cvt", "@rounding:rn,rz ?relu ?satfinite T:bf16 S:f32", "dT sS", Op::Cvt, 80},
    Form{"cvt", "@rounding:rm,rp T:bf16 S:f32", "dT sS", Op::Cvt, 90},
    Form{"cvt", "@rounding:rn,rz,rm,rp ?sat T:f16 S:f64", "dT sS", Op::Cvt},
    Form{"cvt", "@rounding:rn,rz,rm,rp T:bf16 S:f64", "dT sS", Op::Cvt, 90},
    Form{"cvt", "@rounding:rn,rz,rm,rp ?ftz ?sat T:f32 S:f64", "dT sS", Op::Cvt},
    // rounding to an integral value, saturating
    Form{"cvt", "?@rounding:rni,rzi,rmi,rpi ?ftz ?sat T:f32 S:f32", "dT sS", Op::Cvt},
    Form{"cvt", "?@rounding:rni,rzi,rmi,rpi ?ftz ?sat T:f16 S:f16", "dT sS", Op::Cvt},
    Form{"cvt", "?@rounding:rni,rzi,rmi,rpi ?sat T:f64 S:f64", "dT sS", Op::Cvt},
    Form{"cvt", "?@rounding:rni,rzi,rmi,rpi ?sat T:bf16 S:bf16", "dT sS", Op::Cvt, 90},
    // between the 16-bit formats, and to TF32, whose low 13 bits are zero
    Form{"cvt", "@rounding:rn,rz,rm,rp T:bf16 S:f16", "dT sS", Op::Cvt, 90},
    Form{"cvt", "@rounding:rn,rz,rm,rp ?sat T:f16 S:bf16", "dT sS", Op::Cvt, 90},
    Form{"cvt", "@rounding:rna T:tf32 S:f32", "d:b32 sS", Op::Cvt, 80},
    Form{"cvt", "@rounding:rna satfinite T:tf32 S:f32", "d:b32 sS", Op::Cvt, 89},
    Form{"cvt", "@rounding:rn,rz ?relu T:tf32 S:f32", "d:b32 sS", Op::Cvt, 90},
    // packed: two f32 (the first becomes the upper half), or a packed pair
    Form{"cvt", "@rounding:rn,rz ?relu ?satfinite T:f16x2,bf16x2 S:f32", "dT sS sS", Op::CvtPack, 80},
    Form{"cvt", "rn satfinite ?relu T:e4m3x2,e5m2x2 S:f32", "dT sS sS", Op::CvtPack, 89},
    Form{"cvt", "rn satfinite ?relu T:e4m3x2,e5m2x2 S:f16x2", "dT sS", Op::Cvt, 89},
    Form{"cvt", "rn ?relu T:f16x2 S:e4m3x2,e5m2x2", "dT sS", Op::Cvt, 89},
};
// clang-format on

std::span<const Form> moveForms() {
  return kMoveRows;
}

} // namespace fp8jit::emulator
