/* Products of rows and keys, as powers of 2 with the mask: the first half of attention (x86_attention.h).
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
#endif
