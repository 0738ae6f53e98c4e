/* Tells GCC what the AMX tile instructions read and write.
 *
 * GCC's own intrinsics say that ldtilecfg reads 8 bytes (it reads 64) and that tileloadd and
 * tilestored touch no memory. The optimizer then drops or moves the stores before them, and
 * llama.cpp's AMX kernels crash or compute garbage. The set-up puts this header in front of
 * every C++ file when it compiles llama.cpp; it changes nothing for other compilers and CPUs.
 */
#pragma once
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__AMX_TILE__)
#include <immintrin.h>
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
