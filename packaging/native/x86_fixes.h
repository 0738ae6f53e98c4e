/* Three corrections for x86, put in front of every file when the set-up compiles llama.cpp.
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
 *
 * 3. Products of weights and attention: with AVX2 and without AVX-512 see x86_products.h; with AVX-512
 *    weights of 8, 5 and 4 bits (Q8_0, Q5_0, Q4_1) by a few rows: see x86_rows.h.
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
#include "x86_products.h"
#if !defined(__cplusplus) && !defined(HEADSTART_HAS_PRODUCTS) && defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "x86_rows.h"
#define HEADSTART_TEXT_(name) #name
#define HEADSTART_TEXT(name) HEADSTART_TEXT_(name)
struct ggml_compute_params;
extern bool headstart_tiles(const struct ggml_compute_params *, int64_t, int64_t, int64_t,
                            const void *, int64_t, const void *, int64_t, void *, int64_t,
                            int, int, int)
    __asm__(HEADSTART_TEXT(__USER_LABEL_PREFIX__) "llamafile_sgemm");
static inline bool headstart_sgemm(const struct ggml_compute_params * params,
                                   int64_t m, int64_t n, int64_t k,
                                   const void * a, int64_t lda, const void * b, int64_t ldb,
                                   void * c, int64_t ldc, int a_type, int b_type, int c_type) {
    /* the thread, and how many there are, come first there */
    const int * thread = (const int *)params;
    return headstart_rows(thread[0], thread[1], m, n, k, a, lda, b, ldb, (float *)c, ldc,
                          a_type, b_type, c_type)
        || headstart_tiles(params, m, n, k, a, lda, b, ldb, c, ldc, a_type, b_type, c_type);
}
#define llamafile_sgemm headstart_sgemm
#endif
#endif
