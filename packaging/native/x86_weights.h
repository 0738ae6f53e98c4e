/* The product of any known type of weights and rows of numbers: which way is taken, by type and rows. */
#pragma once
#include "x86_few.h"
#include "x86_floats.h"
#include "x86_tiles.h"
#ifdef HEADSTART_TILES
#define HEADSTART_TILES_OF(name, type) \
    static __attribute__((noinline)) void headstart_tiles_##name( \
        int64_t begin, int64_t end, int64_t n, int64_t numbers, const char * a, size_t lda, \
        const char * const * x, float * const * to, const char * then) { \
        if (n <= headstart_few_of(type)) { \
            headstart_multiply_few(type, begin, end, n, numbers, a, lda, x, to, then); \
        } else { \
            headstart_multiply_tiles(type, begin, end, n, numbers, a, lda, x, to, then); \
        } \
    }
HEADSTART_TILES_OF(q4_0, HEADSTART_T_Q4_0)
HEADSTART_TILES_OF(q4_1, HEADSTART_T_Q4_1)
HEADSTART_TILES_OF(q5_0, HEADSTART_T_Q5_0)
HEADSTART_TILES_OF(q5_1, HEADSTART_T_Q5_1)
HEADSTART_TILES_OF(q8_0, HEADSTART_T_Q8_0)
HEADSTART_TILES_OF(q4_K, HEADSTART_T_Q4_K)
HEADSTART_TILES_OF(q5_K, HEADSTART_T_Q5_K)
HEADSTART_TILES_OF(q6_K, HEADSTART_T_Q6_K)
HEADSTART_TILES_OF(iq4_nl, HEADSTART_T_IQ4_NL)
HEADSTART_TILES_OF(iq4_xs, HEADSTART_T_IQ4_XS)
HEADSTART_TILES_OF(mxfp4, HEADSTART_T_MXFP4)

#define HEADSTART_FLOATS_OF(name, type) \
    static __attribute__((noinline)) void headstart_floats_##name( \
        int64_t begin, int64_t end, int64_t n, int64_t numbers, const char * a, size_t lda, \
        const char * const * x, float * const * to, const char * then) { \
        if (n <= HEADSTART_FLOATS_FEW) { \
            headstart_floats_few(type, begin, end, n, numbers, a, lda, x, to, then); \
        } else { \
            headstart_floats_many(type, begin, end, n, numbers, a, lda, x, to, then); \
        } \
    }
HEADSTART_FLOATS_OF(f32, HEADSTART_T_F32)
HEADSTART_FLOATS_OF(f16, HEADSTART_T_F16)
HEADSTART_FLOATS_OF(bf16, HEADSTART_T_BF16)

typedef void headstart_tiles_function(int64_t, int64_t, int64_t, int64_t, const char *, size_t,
                                      const char * const *, float * const *, const char *);

/* NULL for weights that are not multiplied here. */
static inline headstart_tiles_function * headstart_tiles_for(int type) {
    switch (type) {
    case HEADSTART_T_F32: return headstart_floats_f32;
    case HEADSTART_T_F16: return headstart_floats_f16;
    case HEADSTART_T_BF16: return headstart_floats_bf16;
    case HEADSTART_T_Q4_0: return headstart_tiles_q4_0;
    case HEADSTART_T_Q4_1: return headstart_tiles_q4_1;
    case HEADSTART_T_Q5_0: return headstart_tiles_q5_0;
    case HEADSTART_T_Q5_1: return headstart_tiles_q5_1;
    case HEADSTART_T_Q8_0: return headstart_tiles_q8_0;
    case HEADSTART_T_Q4_K: return headstart_tiles_q4_K;
    case HEADSTART_T_Q5_K: return headstart_tiles_q5_K;
    case HEADSTART_T_Q6_K: return headstart_tiles_q6_K;
    case HEADSTART_T_IQ4_NL: return headstart_tiles_iq4_nl;
    case HEADSTART_T_IQ4_XS: return headstart_tiles_iq4_xs;
    case HEADSTART_T_MXFP4: return headstart_tiles_mxfp4;
    default: return NULL;
    }
}
#endif
