/* Two corrections for x86, put in front of every file when the set-up compiles llama.cpp.
 * They change nothing on other CPUs.
 *
 * 1. GCC's AMX intrinsics say that ldtilecfg reads 8 bytes (it reads 64) and that tileloadd and
 *    tilestored touch no memory. The optimizer then drops or moves the stores before them, and
 *    llama.cpp's AMX kernels crash or compute garbage. Here they say what they touch.
 *
 * 2. With AVX512-FP16 ggml handles half precision in steps of 128 numbers, and what is shorter
 *    one by one. Attention heads are often 64 wide: without that instruction set the steps are
 *    64, and attention over 900 cells of such a model is five times as fast. Sums are then kept
 *    in single precision too.
 */
#pragma once
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#undef __AVX512FP16__
#if !defined(__clang__) && defined(__AMX_TILE__)
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#define HEADSTART_TILE_LOAD(name, tile, base, stride) \
    __asm__ volatile(name "\t(%0,%1,1), %%tmm" #tile \
                     : : "r"((const void *)(base)), "r"((long)(stride)) : "memory")
#define HEADSTART_TILE_STORE(tile, base, stride) \
    __asm__ volatile("tilestored\t%%tmm" #tile ", (%0,%1,1)" \
                     : : "r"((void *)(base)), "r"((long)(stride)) : "memory")
#define _tile_loadd(tile, base, stride) HEADSTART_TILE_LOAD("tileloadd", tile, base, stride)
#define _tile_stream_loadd(tile, base, stride) HEADSTART_TILE_LOAD("tileloaddt1", tile, base, stride)
#define _tile_stored(tile, base, stride) HEADSTART_TILE_STORE(tile, base, stride)
#define _tile_loadconfig(config) \
    __asm__ volatile("ldtilecfg\t%0" : : "m"(*(const char (*)[64])(config)))
#endif
#endif
