/* Products of quantized weights and a few rows, for x86 with AVX-512, in place of llama.cpp's; with
 * AVX2 alone see x86_products.h.
 *
 * llama.cpp multiplies one row at a time, and each sum waits for the one before; its tiles read
 * four rows of weights at once, which the hardware does not fetch ahead. Here four rows of weights
 * meet up to eight rows, and the next four are fetched meanwhile. Every sum is made in the same
 * order as in `ggml_vec_dot_*`, so that the results are the same bits for one row and for many,
 * also where llama.cpp itself multiplies the one row.
 */
#pragma once
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ggml's blocks of 32 numbers: d is a scale, m is added to each, s is d times their sum */
typedef struct { uint16_t d; int8_t q[32]; } headstart_q8_0;
typedef struct { uint16_t d, s; int8_t q[32]; } headstart_q8_1;
typedef struct { uint16_t d; uint8_t h[4], q[16]; } headstart_q5_0;
typedef struct { uint16_t d, m; uint8_t q[16]; } headstart_q4_1;
enum { HEADSTART_Q4_1 = 3, HEADSTART_Q5_0 = 6, HEADSTART_Q8_0 = 8, HEADSTART_Q8_1 = 9 };

#define HEADSTART_INLINE static inline __attribute__((always_inline))
/* rows of weights that go together, and rows that meet them */
#define HEADSTART_WEIGHTS 4
#define HEADSTART_ROWS 8

HEADSTART_INLINE size_t headstart_block(const int type) {
    return type == HEADSTART_Q8_0 ? sizeof(headstart_q8_0)
        : type == HEADSTART_Q5_0 ? sizeof(headstart_q5_0) : sizeof(headstart_q4_1);
}

/* The 32 numbers of a block: signed, or with Q4_1 unsigned. */
HEADSTART_INLINE __m256i headstart_numbers(const int type, const void * block) {
    if (type == HEADSTART_Q8_0) {
        return _mm256_loadu_si256((const __m256i *)((const headstart_q8_0 *)block)->q);
    }
    const uint8_t * q = type == HEADSTART_Q5_0 ? ((const headstart_q5_0 *)block)->q
                                               : ((const headstart_q4_1 *)block)->q;
    const __m128i halves = _mm_loadu_si128((const __m128i *)q);
    const __m256i nibbles = _mm256_and_si256(
        _mm256_inserti128_si256(_mm256_castsi128_si256(halves), _mm_srli_epi16(halves, 4), 1),
        _mm256_set1_epi8(15));
    if (type == HEADSTART_Q4_1) {
        return nibbles;
    }
    /* the fifth bit of each number; where it is not set, 16 is subtracted */
    uint32_t fifth;
    __builtin_memcpy(&fifth, ((const headstart_q5_0 *)block)->h, sizeof(fifth));
    const __m256i spread = _mm256_shuffle_epi8(
        _mm256_set1_epi32((int)fifth),
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0));
    const __m256i others = _mm256_set1_epi64x(0x7fbfdfeff7fbfdfe);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_or_si256(spread, others), _mm256_set1_epi8(-1));
    return _mm256_or_si256(nibbles, _mm256_andnot_si256(set, _mm256_set1_epi8((char)0xf0)));
}

HEADSTART_INLINE float headstart_sum(const __m256 x) {
    __m128 sum = _mm_add_ps(_mm256_extractf128_ps(x, 1), _mm256_castps256_ps128(x));
    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

HEADSTART_INLINE __m256 headstart_dot(const bool is_signed, const __m256i w, const __m256i x) {
    const __m256i size = is_signed ? _mm256_sign_epi8(w, w) : w;
    const __m256i sign = is_signed ? _mm256_sign_epi8(x, w) : x;
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return _mm256_cvtepi32_ps(_mm256_dpbusd_epi32(_mm256_setzero_si256(), size, sign));
#elif defined(__AVXVNNI__)
    return _mm256_cvtepi32_ps(_mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), size, sign));
#else
    const __m256i pairs = _mm256_maddubs_epi16(size, sign);
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(_mm256_set1_epi16(1), pairs));
#endif
}

/* Four rows of weights by `count` rows, 1 to 4 of them. The four that come next are fetched from
 * their beginning to their end: one stream, which memory delivers faster than four. */
HEADSTART_INLINE void headstart_narrow(const int type, const int count, const char * a, size_t lda,
                                       const char * b, size_t ldb, int64_t blocks,
                                       float * c, int64_t ldc) {
    const size_t size = headstart_block(type);
    const bool sums = type == HEADSTART_Q4_1;
    const size_t wide = sums ? sizeof(headstart_q8_1) : sizeof(headstart_q8_0);
    __m256 total[HEADSTART_WEIGHTS][4];
    float added[HEADSTART_WEIGHTS][4];
    for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
        for (int i = 0; i < count; ++i) {
            total[row][i] = _mm256_setzero_ps();
            added[row][i] = 0;
        }
    }
    for (int64_t k = 0; k < blocks; ++k) {
        __m256i x[4];
        float d[4], s[4];
        for (int i = 0; i < count; ++i) {
            const char * block = b + i * ldb + k * wide;
            d[i] = _cvtsh_ss(*(const uint16_t *)block);
            if (sums) {
                s[i] = _cvtsh_ss(((const headstart_q8_1 *)block)->s);
            }
            x[i] = _mm256_loadu_si256((const __m256i *)(block + wide - 32));
        }
        const char * next = a + HEADSTART_WEIGHTS * (lda + k * size);
        _mm_prefetch(next, _MM_HINT_T0);
        _mm_prefetch(next + 64, _MM_HINT_T0);
        for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
            const char * block = a + row * lda + k * size;
            const __m256i w = headstart_numbers(type, block);
            const float scale = _cvtsh_ss(*(const uint16_t *)block);
            for (int i = 0; i < count; ++i) {
                total[row][i] = _mm256_fmadd_ps(_mm256_set1_ps(scale * d[i]),
                                                headstart_dot(!sums, w, x[i]), total[row][i]);
                if (sums) {
                    added[row][i] = __builtin_fmaf(_cvtsh_ss(((const headstart_q4_1 *)block)->m),
                                                   s[i], added[row][i]);
                }
            }
        }
    }
    for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
        for (int i = 0; i < count; ++i) {
            const float sum = headstart_sum(total[row][i]);
            c[i * ldc + row] = sums ? sum + added[row][i] : sum;
        }
    }
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VNNI__)
#define HEADSTART_WIDE 1
/* a block of two rows, beside each other; what is multiplied with signed weights is 128 more */
typedef struct { uint8_t q[64]; float d[16]; } headstart_pair;
enum { HEADSTART_PAIRS = HEADSTART_ROWS / 2, HEADSTART_PACKED = 1024 };

static inline void headstart_pack(const int type, const char * b, size_t ldb, int count,
                                  int64_t blocks, headstart_pair * packed, float (* s)[HEADSTART_ROWS]) {
    const bool sums = type == HEADSTART_Q4_1;
    const size_t wide = sums ? sizeof(headstart_q8_1) : sizeof(headstart_q8_0);
    const __m256i more = _mm256_set1_epi8(sums ? 0 : (char)0x80);
    for (int i = 0; i < (count + 1) / 2 * 2; ++i) {
        const char * row = b + (i < count ? i : count - 1) * ldb;
        for (int64_t k = 0; k < blocks; ++k) {
            const char * block = row + k * wide;
            headstart_pair * pair = packed + i / 2 * blocks + k;
            const __m256i x = _mm256_loadu_si256((const __m256i *)(block + wide - 32));
            _mm256_storeu_si256((__m256i *)pair->q + i % 2, _mm256_xor_si256(x, more));
            _mm256_storeu_ps(pair->d + i % 2 * 8, _mm256_set1_ps(_cvtsh_ss(*(const uint16_t *)block)));
            if (sums) {
                s[k][i] = _cvtsh_ss(((const headstart_q8_1 *)block)->s);
            }
        }
    }
    /* computed with, though nothing is made of it: what lies there may be slow */
    for (int i = (count + 1) / 2 * 2; sums && i < HEADSTART_ROWS; ++i) {
        for (int64_t k = 0; k < blocks; ++k) {
            s[k][i] = 0;
        }
    }
}

/* Four rows of weights by `count` packed rows in `pairs` pairs. */
HEADSTART_INLINE void headstart_wide(const int type, const int pairs, int count, const char * a, size_t lda,
                                     const headstart_pair * packed, const float (* s)[HEADSTART_ROWS],
                                     int64_t blocks, float * c, int64_t ldc) {
    const size_t size = headstart_block(type);
    const bool sums = type == HEADSTART_Q4_1;
    const __m512i zero = _mm512_setzero_si512();
    __m512 total[HEADSTART_WEIGHTS][HEADSTART_PAIRS];
    __m256 added[HEADSTART_WEIGHTS];
    for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
        added[row] = _mm256_setzero_ps();
        for (int pair = 0; pair < pairs; ++pair) {
            total[row][pair] = _mm512_setzero_ps();
        }
    }
    for (int64_t k = 0; k < blocks; ++k) {
        __m512i w[HEADSTART_WEIGHTS], start[HEADSTART_WEIGHTS];
        __m512 scale[HEADSTART_WEIGHTS];
        for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
            const char * block = a + row * lda + k * size;
            _mm_prefetch(block + HEADSTART_WEIGHTS * lda, _MM_HINT_T0);
            w[row] = _mm512_broadcast_i64x4(headstart_numbers(type, block));
            scale[row] = _mm512_set1_ps(_cvtsh_ss(*(const uint16_t *)block));
            /* takes back the 128 */
            start[row] = sums ? zero : _mm512_sub_epi32(
                zero, _mm512_dpbusd_epi32(zero, _mm512_set1_epi8((char)0x80), w[row]));
            if (sums) {
                const float m = _cvtsh_ss(((const headstart_q4_1 *)block)->m);
                added[row] = _mm256_fmadd_ps(_mm256_set1_ps(m), _mm256_loadu_ps(s[k]), added[row]);
            }
        }
        for (int pair = 0; pair < pairs; ++pair) {
            const headstart_pair * block = packed + pair * blocks + k;
            const __m512i x = _mm512_loadu_si512(block->q);
            const __m512 d = _mm512_loadu_ps(block->d);
            for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
                const __m512i dot = sums ? _mm512_dpbusd_epi32(zero, w[row], x)
                                         : _mm512_dpbusd_epi32(start[row], x, w[row]);
                total[row][pair] = _mm512_fmadd_ps(_mm512_mul_ps(scale[row], d),
                                                   _mm512_cvtepi32_ps(dot), total[row][pair]);
            }
        }
    }
    for (int row = 0; row < HEADSTART_WEIGHTS; ++row) {
        float more[HEADSTART_ROWS];
        _mm256_storeu_ps(more, added[row]);
        for (int i = 0; i < count; ++i) {
            const __m512 both = total[row][i / 2];
            const float sum = headstart_sum(i % 2 ? _mm512_extractf32x8_ps(both, 1)
                                                  : _mm512_castps512_ps256(both));
            c[i * ldc + row] = sums ? sum + more[i] : sum;
        }
    }
}
#endif

/* Rows of weights from `begin` to `end` by n rows. */
HEADSTART_INLINE bool headstart_multiply(const int type, int64_t begin, int64_t end, int64_t n,
                                         int64_t blocks, const char * a, size_t lda,
                                         const char * b, size_t ldb, float * c, int64_t ldc) {
    int64_t row = 0;
#ifdef HEADSTART_WIDE
    headstart_pair packed[HEADSTART_PACKED];
    float s[HEADSTART_PACKED][HEADSTART_ROWS];
    const int64_t most = HEADSTART_PACKED / blocks < HEADSTART_PAIRS
        ? HEADSTART_PACKED / blocks * 2 : HEADSTART_ROWS;
    while (most && n - row > 1) {
        const int count = (int)(n - row < most ? n - row : most);
        headstart_pack(type, b + row * ldb, ldb, count, blocks, packed, s);
        for (int64_t at = begin; at < end; at += HEADSTART_WEIGHTS) {
            const char * weights = a + at * lda;
            float * to = c + row * ldc + at;
            switch ((count + 1) / 2) {
            case 1: headstart_wide(type, 1, count, weights, lda, packed, s, blocks, to, ldc); break;
            case 2: headstart_wide(type, 2, count, weights, lda, packed, s, blocks, to, ldc); break;
            case 3: headstart_wide(type, 3, count, weights, lda, packed, s, blocks, to, ldc); break;
            default: headstart_wide(type, 4, count, weights, lda, packed, s, blocks, to, ldc);
            }
        }
        row += count;
    }
#endif
    while (row < n) {
        const int count = (int)(n - row < 4 ? n - row : 4);
        for (int64_t at = begin; at < end; at += HEADSTART_WEIGHTS) {
            const char * weights = a + at * lda, * rows = b + row * ldb;
            float * to = c + row * ldc + at;
            switch (count) {
            case 1: headstart_narrow(type, 1, weights, lda, rows, ldb, blocks, to, ldc); break;
            case 2: headstart_narrow(type, 2, weights, lda, rows, ldb, blocks, to, ldc); break;
            case 3: headstart_narrow(type, 3, weights, lda, rows, ldb, blocks, to, ldc); break;
            default: headstart_narrow(type, 4, weights, lda, rows, ldb, blocks, to, ldc);
            }
        }
        row += count;
    }
    return true;
}

/* One row of Q8_0 and Q5_0 is llama.cpp's, which takes 0.65 to 0.85 of the time that four rows of weights
 * at once take (Zen 4); with Q4_1 it takes longer. */
HEADSTART_INLINE bool headstart_leaves(const int type, const int64_t n) {
#ifdef HEADSTART_WIDE
    return n == 1 && type != HEADSTART_Q4_1;
#else
    (void)type;
    (void)n;
    return false;
#endif
}

/* One thread's share of c = a * b, as `llamafile_sgemm` has it: m rows of weights, n rows of
 * `blocks` blocks each; false where that is not done here. */
static inline bool headstart_rows(int ith, int nth, int64_t m, int64_t n, int64_t blocks,
                                  const void * a, int64_t lda, const void * b, int64_t ldb,
                                  float * c, int64_t ldc, int a_type, int b_type, int c_type) {
    const bool known = (a_type == HEADSTART_Q4_1 && b_type == HEADSTART_Q8_1)
        || ((a_type == HEADSTART_Q8_0 || a_type == HEADSTART_Q5_0) && b_type == HEADSTART_Q8_0);
    const bool divides = m % HEADSTART_WEIGHTS == 0 && m >= HEADSTART_WEIGHTS * nth;
    if (!known || !divides || c_type != 0 || headstart_leaves(a_type, n)) {
        return false;
    }
    const int64_t groups = m / HEADSTART_WEIGHTS;
    const int64_t begin = groups * ith / nth * HEADSTART_WEIGHTS;
    const int64_t end = groups * (ith + 1) / nth * HEADSTART_WEIGHTS;
    const size_t wide = b_type == HEADSTART_Q8_1 ? sizeof(headstart_q8_1) : sizeof(headstart_q8_0);
    const size_t next = lda * headstart_block(a_type), step = ldb * wide;
    switch (a_type) {
    case HEADSTART_Q8_0:
        return headstart_multiply(HEADSTART_Q8_0, begin, end, n, blocks, a, next, b, step, c, ldc);
    case HEADSTART_Q5_0:
        return headstart_multiply(HEADSTART_Q5_0, begin, end, n, blocks, a, next, b, step, c, ldc);
    default:
        return headstart_multiply(HEADSTART_Q4_1, begin, end, n, blocks, a, next, b, step, c, ldc);
    }
}
#endif
