/* Attention of rows of numbers over cells of keys and values, for x86 with AVX2, in place of llama.cpp's.
 *
 * A sum over cells is one chain of single precision in the order of cells, for each number of the
 * values and for the sum of weights. Weights are powers of 2 relative to a whole power, the largest
 * one so far: when that grows, sums are multiplied by a power of 2, which rounds nothing. So the bits
 * do not depend on how many rows are computed together, on pieces, threads or masked cells in between.
 * (The usual form, Milakov and Gimelshein 2018, multiplies by exp of a difference, which rounds.)
 */
#pragma once
#include "x86_scores.h"
#ifdef HEADSTART_TILES
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
