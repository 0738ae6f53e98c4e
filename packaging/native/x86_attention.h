/* Attention of rows of numbers over cells of keys and values, for x86 with AVX2, in place of llama.cpp's.
 *
 * A sum over cells is one chain of single precision in the order of cells, for each number of the
 * values and for the sum of weights. Weights are powers of 2 relative to a whole power, the largest
 * one so far: when that grows, sums are multiplied by a power of 2, which rounds nothing. So the bits
 * do not depend on how many rows are computed together, on pieces, threads or masked cells in between.
 * (The usual form, Milakov and Gimelshein 2018, multiplies by exp of a difference, which rounds.)
 */
#pragma once
#include "x86_weights.h"
#ifdef HEADSTART_TILES
#include <limits.h>
#include <stdlib.h>

/* cells that are looked at together, and rows of which each cell's values are unpacked once */
#define HEADSTART_CELLS 64
#define HEADSTART_ROWS_TOGETHER 32
/* rows that meet turned keys at once, and rows from which on turning them pays */
#ifdef HEADSTART_WIDE
#define HEADSTART_KEY_ROWS 4
#else
#define HEADSTART_KEY_ROWS 2
#endif
#define HEADSTART_TURNED_ROWS 6
/* minus infinity in half precision: a cell that is not seen */
#define HEADSTART_HIDDEN 0xfc00
/* the power of a row that has seen no cell */
#define HEADSTART_NO_TOP (INT_MIN / 2)

/* Keys and values that some rows share, one head of them. */
typedef struct {
    int k_type, v_type;
    int64_t dk, dv;
    const char * k, * v;
    size_t k_step, v_step;
    /* multiplies a product of a row and a key; where `cap` is not 0, it is cap * tanh(product * scale) */
    float scale, cap;
} headstart_keys;

typedef struct {
    const float * q;
    /* half precision, a number for each cell, or NULL */
    const uint16_t * mask;
    float slope;
    /* joins the sum of weights, or NULL */
    const float * sink;
    float * out;
} headstart_query;

static inline bool headstart_attends(int type, int64_t numbers) {
    return (headstart_is_float(type) && numbers % 8 == 0) || (type == HEADSTART_T_Q8_0 && numbers % 32 == 0);
}

/* Bytes for `rows` rows as `headstart_make_queries` leaves them. */
static inline size_t headstart_query_size(const headstart_keys * keys) {
    return headstart_is_float(keys->k_type) ? 0 : headstart_x_size(keys->k_type, keys->dk);
}

/* Points `x` at the rows as they meet keys; `made` has room for those that are rounded. */
static inline void headstart_make_queries(const headstart_keys * keys, const headstart_query * queries, int rows,
                                          char * made, const char ** x) {
    const size_t size = headstart_query_size(keys);
    for (int r = 0; r < rows; ++r) {
        x[r] = (const char *)queries[r].q;
        if (size) {
            headstart_make_x(keys->k_type, queries[r].q, keys->dk, made + r * size);
            x[r] = made + r * size;
        }
    }
}

/* Whether any of `count` cells from `first` is seen by any row; tokens' rows follow each other. */
static inline bool headstart_seen(const headstart_query * queries, int rows, int64_t first, int count) {
    const uint16_t * before = NULL;
    for (int r = 0; r < rows; ++r) {
        const uint16_t * mask = queries[r].mask;
        if (mask == NULL) {
            return true;
        }
        if (mask == before) {
            continue;
        }
        before = mask;
        int i = 0;
        for (; i + 16 <= count; i += 16) {
            const __m256i some = _mm256_loadu_si256((const __m256i *)(mask + first + i));
            if (_mm256_movemask_epi8(_mm256_cmpeq_epi16(some, _mm256_set1_epi16((short)HEADSTART_HIDDEN))) != -1) {
                return true;
            }
        }
        for (; i < count; ++i) {
            if (mask[first + i] != HEADSTART_HIDDEN) {
                return true;
            }
        }
    }
    return false;
}

/* 2^f for f from -1/2 to 1/2; the polynomial of Cephes. */
HEADSTART_TILE headstart_reals headstart_power(headstart_reals f) {
    static const float more[] = {1.339887440266574e-3f, 9.618437357674640e-3f, 5.550332471162809e-2f,
                                 2.402264791363012e-1f, 6.931472028550421e-1f, 1.0f};
    headstart_reals p = headstart_all(set1_ps)(1.535336188319500e-4f);
    for (int i = 0; i < 6; ++i) {
        p = headstart_all(fmadd_ps)(p, f, headstart_all(set1_ps)(more[i]));
    }
    return p;
}

HEADSTART_TILE headstart_reals headstart_whole(headstart_reals x) {
#ifdef HEADSTART_WIDE
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#endif
}

/* 2^x for x whose whole part is known. */
HEADSTART_TILE headstart_ints headstart_power_bits(headstart_reals x, headstart_reals whole, headstart_ints power) {
    const headstart_reals part = headstart_power(headstart_all(sub_ps)(x, whole));
#ifdef HEADSTART_WIDE
    return _mm512_add_epi32(_mm512_castps_si512(part), _mm512_slli_epi32(power, 23));
#else
    return _mm256_add_epi32(_mm256_castps_si256(part), _mm256_slli_epi32(power, 23));
#endif
}

/* 2^(x - top), 0 below 2^-120. */
HEADSTART_TILE headstart_reals headstart_weight(headstart_reals x, int top) {
    const headstart_reals whole = headstart_whole(x);
    const headstart_ints tops = headstart_all(set1_epi32)(top);
    const headstart_ints least = headstart_all(sub_epi32)(tops, headstart_all(set1_epi32)(127));
    const headstart_ints power = headstart_all(sub_epi32)(
        headstart_all(max_epi32)(headstart_all(cvtps_epi32)(whole), least), tops);
    const headstart_ints bits = headstart_power_bits(x, whole, power), most = headstart_all(set1_epi32)(-121);
#ifdef HEADSTART_WIDE
    return _mm512_castsi512_ps(_mm512_maskz_mov_epi32(_mm512_cmpgt_epi32_mask(power, most), bits));
#else
    return _mm256_castsi256_ps(_mm256_and_si256(bits, _mm256_cmpgt_epi32(power, most)));
#endif
}

/* 2^power for powers up to 0. */
HEADSTART_TILE float headstart_smaller(int64_t power) {
    const uint32_t bits = power < -126 ? 0 : (uint32_t)(127 + power) << 23;
    float made;
    memcpy(&made, &bits, sizeof(made));
    return made;
}

#define HEADSTART_LOG2E 1.44269504088896341f

/* tanh(x) = 1 - 2 / (e^2x + 1) */
HEADSTART_TILE headstart_reals headstart_tanh(headstart_reals x) {
    const headstart_reals limit = headstart_all(set1_ps)(20.0f), one = headstart_all(set1_ps)(1.0f);
    x = headstart_all(max_ps)(headstart_all(min_ps)(x, limit), headstart_all(set1_ps)(-20.0f));
    x = headstart_all(mul_ps)(x, headstart_all(set1_ps)(2 * HEADSTART_LOG2E));
    const headstart_reals whole = headstart_whole(x);
    const headstart_ints bits = headstart_power_bits(x, whole, headstart_all(cvtps_epi32)(whole));
    headstart_reals e;
    memcpy(&e, &bits, sizeof(e));
    return headstart_all(sub_ps)(one, headstart_all(div_ps)(headstart_all(set1_ps)(2.0f), headstart_all(add_ps)(e, one)));
}

HEADSTART_TILE headstart_reals headstart_low_pairs(headstart_reals a, headstart_reals b) {
    return headstart_all(castpd_ps)(headstart_all(unpacklo_pd)(headstart_all(castps_pd)(a), headstart_all(castps_pd)(b)));
}

HEADSTART_TILE headstart_reals headstart_high_pairs(headstart_reals a, headstart_reals b) {
    return headstart_all(castpd_ps)(headstart_all(unpackhi_pd)(headstart_all(castps_pd)(a), headstart_all(castps_pd)(b)));
}

/* As many keys as a register has lanes, from `at` on: column i of them to `to` + i * HEADSTART_LANES. */
HEADSTART_TILE void headstart_turn_keys(const int type, const char * const rows[HEADSTART_LANES], int64_t at, const bool eight,
                                        float * to) {
    headstart_reals r[HEADSTART_LANES], t[HEADSTART_LANES];
    for (int i = 0; i < HEADSTART_LANES; ++i) {
        r[i] = headstart_floats_or_eight(type, rows[i] + at * headstart_float_size(type), eight);
    }
    for (int i = 0; i < HEADSTART_LANES; i += 2) {
        t[i] = headstart_all(unpacklo_ps)(r[i], r[i + 1]);
        t[i + 1] = headstart_all(unpackhi_ps)(r[i], r[i + 1]);
    }
    for (int i = 0; i < HEADSTART_LANES; i += 4) {
        for (int c = 0; c < 2; ++c) {
            r[i + 2 * c] = headstart_low_pairs(t[i + c], t[i + 2 + c]);
            r[i + 2 * c + 1] = headstart_high_pairs(t[i + c], t[i + 2 + c]);
        }
    }
    for (int c = 0; c < 4; ++c) {
#ifdef HEADSTART_WIDE
        const __m512 a = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88), b = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
        const __m512 d = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xdd), e = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xdd);
        t[c] = _mm512_shuffle_f32x4(a, b, 0x88);
        t[4 + c] = _mm512_shuffle_f32x4(d, e, 0x88);
        t[8 + c] = _mm512_shuffle_f32x4(a, b, 0xdd);
        t[12 + c] = _mm512_shuffle_f32x4(d, e, 0xdd);
#else
        t[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
        t[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
#endif
    }
    for (int i = 0; i < (eight ? 8 : HEADSTART_LANES); ++i) {
        headstart_all(storeu_ps)(to + i * HEADSTART_LANES, t[i]);
    }
}

/* The chain of every HEADSTART_LANES-th number from `lane` on, for `count` rows and the keys at `turned`. */
HEADSTART_TILE void headstart_chain(const int count, int64_t numbers, int lane, const float * turned,
                                    const float * const x[], headstart_reals sums[]) {
    for (int r = 0; r < count; ++r) {
        sums[r] = headstart_all(set1_ps)(0);
    }
    for (int64_t i = lane; i < numbers; i += HEADSTART_LANES) {
        headstart_reals key = headstart_all(loadu_ps)(turned + i * HEADSTART_LANES);
        HEADSTART_IN_REGISTER(key);
        for (int r = 0; r < count; ++r) {
            sums[r] = headstart_all(fmadd_ps)(key, headstart_all(set1_ps)(x[r][i]), sums[r]);
        }
    }
}

/* The sums of the chains of eight lanes (and of those eight lanes further), in the order in which
 * `headstart_four_lanes` has them: like a counter, which adds up two of a size as soon as there are two. */
HEADSTART_TILE void headstart_chains(const int count, int64_t numbers, const float * turned, const float * const x[],
                                     headstart_reals sums[]) {
    headstart_reals some[4][HEADSTART_KEY_ROWS];
    for (int lane = 0; lane < 8; ++lane) {
        headstart_reals * const last = some[3];
        headstart_chain(count, numbers, lane, turned, x, last);
#ifdef HEADSTART_WIDE
        headstart_reals further[HEADSTART_KEY_ROWS];
        headstart_chain(count, numbers, lane + 8, turned, x, further);
        for (int r = 0; r < count; ++r) {
            last[r] = headstart_all(add_ps)(last[r], further[r]);
        }
#endif
        int size = 0;
        for (; lane >> size & 1; ++size) {
            for (int r = 0; r < count; ++r) {
                last[r] = headstart_all(add_ps)(some[size][r], last[r]);
            }
        }
        for (int r = 0; r < count && size < 3; ++r) {
            some[size][r] = last[r];
        }
    }
    for (int r = 0; r < count; ++r) {
        sums[r] = some[3][r];
    }
}

/* The products of x86_floats.h for many rows: keys are turned, so that no sum goes across a register.
 * `room` holds keys->dk * HEADSTART_LANES numbers. */
HEADSTART_TILE void headstart_turned_products(const int type, const headstart_keys * keys, int rows, const char * const * x,
                                              int64_t first, int cells, float * const * scores, float * room) {
    for (int at = 0; at < cells; at += HEADSTART_LANES) {
        const char * from[HEADSTART_LANES];
        for (int i = 0; i < HEADSTART_LANES; ++i) {
            from[i] = keys->k + (first + (at + i < cells ? at + i : cells - 1)) * keys->k_step;
        }
        int64_t k = 0;
        for (; k + HEADSTART_LANES <= keys->dk; k += HEADSTART_LANES) {
            headstart_turn_keys(type, from, k, false, room + k * HEADSTART_LANES);
        }
        if (k < keys->dk) {
            headstart_turn_keys(type, from, k, true, room + k * HEADSTART_LANES);
        }
        for (int row = 0; row < rows; row += HEADSTART_KEY_ROWS) {
            /* beyond the last row, that one again */
            const float * some[HEADSTART_KEY_ROWS];
            headstart_reals sums[HEADSTART_KEY_ROWS];
            for (int r = 0; r < HEADSTART_KEY_ROWS; ++r) {
                some[r] = (const float *)x[row + r < rows ? row + r : rows - 1];
            }
            headstart_chains(HEADSTART_KEY_ROWS, keys->dk, room, some, sums);
            for (int r = 0; r < HEADSTART_KEY_ROWS && row + r < rows; ++r) {
                headstart_all(storeu_ps)(scores[row + r] + at, sums[r]);
            }
        }
    }
}

/* Products of rows and the keys of `count` cells: `scores[r]` gets powers of 2, with the mask.
 * There is room for a multiple of HEADSTART_LANES. What is fetched at the end lies at `then`; `room`
 * holds keys->dk * HEADSTART_LANES numbers. */
static inline void headstart_score(const headstart_keys * keys, const headstart_query * queries, int rows,
                                   const char * const * x, int64_t first, int count, float * const * scores,
                                   const char * then, float * room) {
    const int type = rows < HEADSTART_TURNED_ROWS ? -1 : keys->k_type;
    switch (type) {
    case HEADSTART_T_F32: headstart_turned_products(HEADSTART_T_F32, keys, rows, x, first, count, scores, room); break;
    case HEADSTART_T_F16: headstart_turned_products(HEADSTART_T_F16, keys, rows, x, first, count, scores, room); break;
    case HEADSTART_T_BF16: headstart_turned_products(HEADSTART_T_BF16, keys, rows, x, first, count, scores, room); break;
    default:
        headstart_tiles_for(keys->k_type)(0, count, rows, keys->dk, keys->k + first * keys->k_step, keys->k_step, x,
                                          scores, then);
    }
    const headstart_reals scale = headstart_all(set1_ps)(keys->cap != 0 ? keys->scale : keys->scale * HEADSTART_LOG2E);
    const headstart_reals cap = headstart_all(set1_ps)(keys->cap * HEADSTART_LOG2E);
    for (int r = 0; r < rows; ++r) {
        const headstart_reals slope = headstart_all(set1_ps)(queries[r].slope * HEADSTART_LOG2E);
        for (int i = count; i % HEADSTART_LANES; ++i) {
            scores[r][i] = 0;
        }
        for (int i = 0; i < count; i += HEADSTART_LANES) {
            headstart_reals score = headstart_all(mul_ps)(headstart_all(loadu_ps)(scores[r] + i), scale);
            if (keys->cap != 0) {
                score = headstart_all(mul_ps)(headstart_tanh(score), cap);
            }
            if (queries[r].mask != NULL) {
                const uint16_t * from = queries[r].mask + first + i;
                uint16_t halves[HEADSTART_LANES] = {0};
                if (count - i < HEADSTART_LANES) {
                    memcpy(halves, from, (count - i) * sizeof(*halves));
                    from = halves;
                }
                score = headstart_all(fmadd_ps)(headstart_floats(HEADSTART_T_F16, (const char *)from), slope, score);
            }
            headstart_all(storeu_ps)(scores[r] + i, score);
        }
        for (int i = count; i % HEADSTART_LANES; ++i) {
            scores[r][i] = -INFINITY;
        }
    }
}

/* The largest whole power of some scores, and `top`. */
static inline int headstart_top(const float * scores, int count, int top) {
    headstart_ints most = headstart_all(set1_epi32)(top);
    for (int i = 0; i < count; i += HEADSTART_LANES) {
        most = headstart_all(max_epi32)(
            most, headstart_all(cvtps_epi32)(headstart_whole(headstart_all(loadu_ps)(scores + i))));
    }
#ifdef HEADSTART_WIDE
    return _mm512_reduce_max_epi32(most);
#else
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
#endif
}

/* Scores of up to four rows become weights; their sums go on in `sum`. */
static inline void headstart_weigh(float * const * scores, int rows, int count, const int * tops, float * sum) {
    float total[4] = {0};
    for (int r = 0; r < rows; ++r) {
        total[r] = sum[r];
        for (int i = 0; i < count; i += HEADSTART_LANES) {
            headstart_all(storeu_ps)(scores[r] + i, headstart_weight(headstart_all(loadu_ps)(scores[r] + i), tops[r]));
        }
    }
    /* one after the other in each row; the rows do not wait for each other */
    if (rows == 4) {
        for (int i = 0; i < count; ++i) {
            total[0] += scores[0][i];
            total[1] += scores[1][i];
            total[2] += scores[2][i];
            total[3] += scores[3][i];
        }
    } else {
        for (int r = 0; r < rows; ++r) {
            for (int i = 0; i < count; ++i) {
                total[r] += scores[r][i];
            }
        }
    }
    memcpy(sum, total, rows * sizeof(*sum));
}

/* As many numbers of a cell's values as a register has lanes, or eight of them and zeros. */
HEADSTART_TILE headstart_reals headstart_values(const int type, const char * cell, int64_t at, const bool eight) {
    if (type == HEADSTART_T_Q8_0) {
        const char * block = cell + at / 32 * 34, * q = block + 2 + at % 32;
        uint16_t d;
        memcpy(&d, block, sizeof(d));
#ifdef HEADSTART_WIDE
        const __m512i numbers = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)q));
#else
        const __m256i numbers = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)q));
#endif
        return headstart_all(mul_ps)(headstart_all(set1_ps)(_cvtsh_ss(d)), headstart_all(cvtepi32_ps)(numbers));
    }
    return headstart_floats_or_eight(type, cell + at * headstart_float_size(type), eight);
}

HEADSTART_TILE void headstart_store(float * to, headstart_reals x, const bool eight) {
#ifdef HEADSTART_WIDE
    if (eight) {
        _mm256_storeu_ps(to, _mm512_castps512_ps256(x));
        return;
    }
#endif
    (void)eight;
    headstart_all(storeu_ps)(to, x);
}

/* Adds values of cells times weights to `wide` registers of sums of `count` rows, from number `at` on. */
HEADSTART_TILE void headstart_add_values(const int type, const int count, const int wide, const bool eight, const char * v,
                                         size_t step, int cells, int64_t at, float * const * weights, float * const * sums) {
    headstart_reals total[4][8];
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < wide; ++w) {
            const float * from = sums[r] + at + HEADSTART_LANES * w;
            total[r][w] = headstart_floats_or_eight(HEADSTART_T_F32, (const char *)from, eight);
        }
    }
    for (int i = 0; i < cells; ++i) {
        headstart_reals weight[4];
        for (int r = 0; r < count; ++r) {
            weight[r] = headstart_all(set1_ps)(weights[r][i]);
        }
        for (int w = 0; w < wide; ++w) {
            headstart_reals value = headstart_values(type, v + i * step, at + HEADSTART_LANES * w, eight);
            HEADSTART_IN_REGISTER(value);
            for (int r = 0; r < count; ++r) {
                total[r][w] = headstart_all(fmadd_ps)(weight[r], value, total[r][w]);
            }
        }
    }
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < wide; ++w) {
            headstart_store(sums[r] + at + HEADSTART_LANES * w, total[r][w], eight);
        }
    }
}

/* Numbers `begin` to `end`, in as wide pieces as go. */
HEADSTART_TILE void headstart_add_some(const int type, const int count, const int wide, const char * v, size_t step,
                                       int cells, int64_t begin, int64_t end, float * const * weights, float * const * sums) {
    int64_t at = begin;
    for (; at + HEADSTART_LANES * wide <= end; at += HEADSTART_LANES * wide) {
        headstart_add_values(type, count, wide, false, v, step, cells, at, weights, sums);
    }
    if (wide > 4 && at + HEADSTART_LANES * 4 <= end) {
        headstart_add_values(type, count, 4, false, v, step, cells, at, weights, sums);
        at += HEADSTART_LANES * 4;
    }
    if (wide > 2 && at + HEADSTART_LANES * 2 <= end) {
        headstart_add_values(type, count, 2, false, v, step, cells, at, weights, sums);
        at += HEADSTART_LANES * 2;
    }
    if (at + HEADSTART_LANES <= end) {
        headstart_add_values(type, count, 1, false, v, step, cells, at, weights, sums);
        at += HEADSTART_LANES;
    }
    if (HEADSTART_LANES > 8 && at < end) {
        headstart_add_values(type, count, 1, true, v, step, cells, at, weights, sums);
    }
}

HEADSTART_TILE void headstart_add_all(const int type, int rows, const char * v, size_t step, int cells, int64_t begin,
                                      int64_t end, float * const * weights, float * const * sums) {
    for (int r = 0; r < rows; r += 4) {
        switch (rows - r) {
        case 1: headstart_add_some(type, 1, 8, v, step, cells, begin, end, weights + r, sums + r); break;
        case 2: headstart_add_some(type, 2, 4, v, step, cells, begin, end, weights + r, sums + r); break;
        case 3: headstart_add_some(type, 3, 4, v, step, cells, begin, end, weights + r, sums + r); break;
        default:
            headstart_add_some(type, 4, HEADSTART_LANES / 4, v, step, cells, begin, end, weights + r, sums + r);
        }
    }
}

/* Numbers of a cell's values from `begin` on, in single precision. */
HEADSTART_TILE void headstart_unpack_values(const int type, const char * cell, int64_t begin, int64_t count, float * to) {
    int64_t at = 0;
    for (; at + HEADSTART_LANES <= count; at += HEADSTART_LANES) {
        headstart_store(to + at, headstart_values(type, cell, begin + at, false), false);
    }
    if (at < count) {
        headstart_store(to + at, headstart_values(type, cell, begin + at, true), true);
    }
}

/* Adds the values of `cells` cells from `first` on to the rows' sums, numbers `begin` to `end` of them.
 * `room` holds cells * (end - begin) numbers. */
static inline void headstart_add(const headstart_keys * keys, int rows, int64_t first, int cells, int64_t begin,
                                 int64_t end, float * const * weights, float * const * sums, float * room) {
    const char * v = keys->v + first * keys->v_step;
    if (rows > 4 && keys->v_type != HEADSTART_T_F32) {
        const int64_t wide = end - begin;
        float * from[HEADSTART_ROWS_TOGETHER];
        for (int i = 0; i < cells; ++i) {
            const char * cell = v + i * keys->v_step;
            switch (keys->v_type) {
            case HEADSTART_T_F16: headstart_unpack_values(HEADSTART_T_F16, cell, begin, wide, room + i * wide); break;
            case HEADSTART_T_BF16: headstart_unpack_values(HEADSTART_T_BF16, cell, begin, wide, room + i * wide); break;
            default: headstart_unpack_values(HEADSTART_T_Q8_0, cell, begin, wide, room + i * wide);
            }
        }
        for (int r = 0; r < rows; ++r) {
            from[r] = sums[r] + begin;
        }
        headstart_add_all(HEADSTART_T_F32, rows, (const char *)room, wide * sizeof(float), cells, 0, wide, weights, from);
        return;
    }
    switch (keys->v_type) {
    case HEADSTART_T_F32:
        headstart_add_all(HEADSTART_T_F32, rows, v, keys->v_step, cells, begin, end, weights, sums); break;
    case HEADSTART_T_F16:
        headstart_add_all(HEADSTART_T_F16, rows, v, keys->v_step, cells, begin, end, weights, sums); break;
    case HEADSTART_T_BF16:
        headstart_add_all(HEADSTART_T_BF16, rows, v, keys->v_step, cells, begin, end, weights, sums); break;
    default:
        headstart_add_all(HEADSTART_T_Q8_0, rows, v, keys->v_step, cells, begin, end, weights, sums);
    }
}

/* Divides sums by the sum of weights, with the row's sink. */
static inline void headstart_finish(const headstart_query * query, int top, float sum, const float * sums, int64_t begin,
                                    int64_t end) {
    float smaller = 1;
    if (query->sink != NULL) {
        float score[HEADSTART_LANES];
        float * const scores[1] = {score};
        score[0] = *query->sink * HEADSTART_LOG2E;
        for (int i = 1; i < HEADSTART_LANES; ++i) {
            score[i] = -INFINITY;
        }
        const int all = headstart_top(score, HEADSTART_LANES, top);
        smaller = headstart_smaller((int64_t)top - all);
        sum *= smaller;
        headstart_weigh(scores, 1, HEADSTART_LANES, &all, &sum);
    }
    const float share = sum == 0 ? 0 : smaller / sum;
    for (int64_t i = begin; i < end; ++i) {
        query->out[i] = sums[i] * share;
    }
}

/* Numbers for turned keys, or values in single precision. */
static inline int64_t headstart_room(const headstart_keys * keys) {
    const int64_t turned = HEADSTART_LANES * keys->dk, values = HEADSTART_CELLS * keys->dv;
    return turned > values ? turned : values;
}

/* Bytes that `headstart_attend` needs for so many rows. */
static inline size_t headstart_attend_size(const headstart_keys * keys) {
    const size_t rows = HEADSTART_ROWS_TOGETHER, cells = HEADSTART_CELLS;
    return rows * headstart_query_size(keys) + 64
        + sizeof(float) * (rows * cells + rows * keys->dv + headstart_room(keys));
}

/* Attention of up to HEADSTART_ROWS_TOGETHER rows over all cells. */
static inline void headstart_attend(const headstart_keys * keys, const headstart_query * queries, int rows,
                                    int64_t cells, char * memory) {
    const char * x[HEADSTART_ROWS_TOGETHER];
    float * scores[HEADSTART_ROWS_TOGETHER], * sums[HEADSTART_ROWS_TOGETHER], sum[HEADSTART_ROWS_TOGETHER];
    int tops[HEADSTART_ROWS_TOGETHER];
    float * floats = (float *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    for (int r = 0; r < rows; ++r) {
        scores[r] = floats;
        sums[r] = floats + HEADSTART_CELLS;
        floats += HEADSTART_CELLS + keys->dv;
        memset(sums[r], 0, keys->dv * sizeof(float));
        sum[r] = 0;
        tops[r] = HEADSTART_NO_TOP;
    }
    float * room = floats;
    headstart_make_queries(keys, queries, rows, (char *)(room + headstart_room(keys)), x);
    for (int64_t first = 0; first < cells; first += HEADSTART_CELLS) {
        const int count = (int)(cells - first < HEADSTART_CELLS ? cells - first : HEADSTART_CELLS);
        if (!headstart_seen(queries, rows, first, count)) {
            continue;
        }
        const char * then = keys->k + (first + count < cells ? first + count : first) * keys->k_step;
        headstart_score(keys, queries, rows, x, first, count, scores, then, room);
        for (int r = 0; r < rows; ++r) {
            const int top = headstart_top(scores[r], count, tops[r]);
            if (top > tops[r]) {
                const float smaller = headstart_smaller((int64_t)tops[r] - top);
                sum[r] *= smaller;
                for (int64_t i = 0; i < keys->dv; ++i) {
                    sums[r][i] *= smaller;
                }
            }
            tops[r] = top;
        }
        for (int r = 0; r < rows; r += 4) {
            headstart_weigh(scores + r, rows - r < 4 ? rows - r : 4, count, tops + r, sum + r);
        }
        headstart_add(keys, rows, first, count, 0, keys->dv, scores, sums, room);
    }
    for (int r = 0; r < rows; ++r) {
        headstart_finish(queries + r, tops[r], sum[r], sums[r], 0, keys->dv);
    }
}
#endif
