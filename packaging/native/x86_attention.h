/* Attention of rows of numbers over cells of keys and values, for x86 with AVX2 and without AVX-512,
 * in place of llama.cpp's.
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
HEADSTART_TILE __m256 headstart_power(__m256 f) {
    __m256 p = _mm256_set1_ps(1.535336188319500e-4f);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.339887440266574e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(9.618437357674640e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(5.550332471162809e-2f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(2.402264791363012e-1f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(6.931472028550421e-1f));
    return _mm256_fmadd_ps(p, f, _mm256_set1_ps(1.0f));
}

HEADSTART_TILE __m256 headstart_whole(__m256 x) {
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^(x - top), 0 below 2^-120. */
HEADSTART_TILE __m256 headstart_weight(__m256 x, __m256i top) {
    const __m256 whole = headstart_whole(x);
    const __m256i least = _mm256_sub_epi32(top, _mm256_set1_epi32(127));
    const __m256i power = _mm256_sub_epi32(_mm256_max_epi32(_mm256_cvtps_epi32(whole), least), top);
    const __m256i bits = _mm256_add_epi32(
        _mm256_castps_si256(headstart_power(_mm256_sub_ps(x, whole))), _mm256_slli_epi32(power, 23));
    const __m256i there = _mm256_cmpgt_epi32(power, _mm256_set1_epi32(-121));
    return _mm256_castsi256_ps(_mm256_and_si256(bits, there));
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
HEADSTART_TILE __m256 headstart_tanh(__m256 x) {
    const __m256 limit = _mm256_set1_ps(20.0f), one = _mm256_set1_ps(1.0f);
    x = _mm256_max_ps(_mm256_min_ps(x, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
    x = _mm256_mul_ps(x, _mm256_set1_ps(2 * HEADSTART_LOG2E));
    const __m256 whole = headstart_whole(x);
    const __m256 e = _mm256_castsi256_ps(_mm256_add_epi32(
        _mm256_castps_si256(headstart_power(_mm256_sub_ps(x, whole))), _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23)));
    return _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2.0f), _mm256_add_ps(e, one)));
}

/* Products of rows and the keys of `count` cells: `scores[r]` gets powers of 2, with the mask.
 * There is room for a multiple of 8. What is fetched at the end lies at `then`. */
static inline void headstart_score(const headstart_keys * keys, const headstart_query * queries, int rows,
                                   const char * const * x, int64_t first, int count, float * const * scores,
                                   const char * then) {
    headstart_tiles_for(keys->k_type)(0, count, rows, keys->dk, keys->k + first * keys->k_step, keys->k_step, x,
                                      scores, then);
    const __m256 scale = _mm256_set1_ps(keys->cap != 0 ? keys->scale : keys->scale * HEADSTART_LOG2E);
    const __m256 cap = _mm256_set1_ps(keys->cap * HEADSTART_LOG2E);
    for (int r = 0; r < rows; ++r) {
        const __m256 slope = _mm256_set1_ps(queries[r].slope * HEADSTART_LOG2E);
        for (int i = count; i % 8; ++i) {
            scores[r][i] = 0;
        }
        for (int i = 0; i < count; i += 8) {
            __m256 score = _mm256_mul_ps(_mm256_loadu_ps(scores[r] + i), scale);
            if (keys->cap != 0) {
                score = _mm256_mul_ps(headstart_tanh(score), cap);
            }
            if (queries[r].mask != NULL) {
                uint16_t halves[8] = {0};
                memcpy(halves, queries[r].mask + first + i, (count - i < 8 ? count - i : 8) * sizeof(*halves));
                const __m256 mask = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)halves));
                score = _mm256_fmadd_ps(mask, slope, score);
            }
            _mm256_storeu_ps(scores[r] + i, score);
        }
        for (int i = count; i % 8; ++i) {
            scores[r][i] = -INFINITY;
        }
    }
}

/* The largest whole power of some scores, and `top`. */
static inline int headstart_top(const float * scores, int count, int top) {
    __m256i most = _mm256_set1_epi32(top);
    for (int i = 0; i < count; i += 8) {
        most = _mm256_max_epi32(most, _mm256_cvtps_epi32(headstart_whole(_mm256_loadu_ps(scores + i))));
    }
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}

/* Scores of up to four rows become weights; their sums go on in `sum`. */
static inline void headstart_weigh(float * const * scores, int rows, int count, const int * tops, float * sum) {
    float total[4] = {0};
    for (int r = 0; r < rows; ++r) {
        total[r] = sum[r];
        for (int i = 0; i < count; i += 8) {
            const __m256 weight = headstart_weight(_mm256_loadu_ps(scores[r] + i), _mm256_set1_epi32(tops[r]));
            _mm256_storeu_ps(scores[r] + i, weight);
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

/* Eight numbers of a cell's values. */
HEADSTART_TILE __m256 headstart_value(const int type, const char * cell, int64_t at) {
    if (type == HEADSTART_T_Q8_0) {
        const char * block = cell + at / 32 * 34;
        uint16_t d;
        memcpy(&d, block, sizeof(d));
        const __m128i q = _mm_loadl_epi64((const __m128i *)(block + 2 + at % 32));
        return _mm256_mul_ps(_mm256_set1_ps(_cvtsh_ss(d)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(q)));
    }
    return headstart_float(type, cell + at * headstart_float_size(type));
}

/* Adds values of cells times weights to `wide` * 8 sums of `count` rows, from number `at` on. */
HEADSTART_TILE void headstart_add_values(const int type, const int count, const int wide, const char * v, size_t step,
                                         int cells, int64_t at, float * const * weights, float * const * sums) {
    __m256 total[4][8];
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < wide; ++w) {
            total[r][w] = _mm256_loadu_ps(sums[r] + at + 8 * w);
        }
    }
    for (int i = 0; i < cells; ++i) {
        __m256 weight[4];
        for (int r = 0; r < count; ++r) {
            weight[r] = _mm256_set1_ps(weights[r][i]);
        }
        for (int w = 0; w < wide; ++w) {
            __m256 value = headstart_value(type, v + i * step, at + 8 * w);
            HEADSTART_IN_REGISTER(value);
            for (int r = 0; r < count; ++r) {
                total[r][w] = _mm256_fmadd_ps(weight[r], value, total[r][w]);
            }
        }
    }
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < wide; ++w) {
            _mm256_storeu_ps(sums[r] + at + 8 * w, total[r][w]);
        }
    }
}

HEADSTART_TILE void headstart_add_some(const int type, const int count, const int wide, const char * v, size_t step,
                                       int cells, int64_t begin, int64_t end, float * const * weights, float * const * sums) {
    int64_t at = begin;
    for (; at + 8 * wide <= end; at += 8 * wide) {
        headstart_add_values(type, count, wide, v, step, cells, at, weights, sums);
    }
    for (; at < end; at += 8) {
        headstart_add_values(type, count, 1, v, step, cells, at, weights, sums);
    }
}

HEADSTART_TILE void headstart_add_all(const int type, int rows, const char * v, size_t step, int cells, int64_t begin,
                                      int64_t end, float * const * weights, float * const * sums) {
    for (int r = 0; r < rows; r += 4) {
        switch (rows - r) {
        case 1: headstart_add_some(type, 1, 8, v, step, cells, begin, end, weights + r, sums + r); break;
        case 2: headstart_add_some(type, 2, 4, v, step, cells, begin, end, weights + r, sums + r); break;
        case 3: headstart_add_some(type, 3, 4, v, step, cells, begin, end, weights + r, sums + r); break;
        default: headstart_add_some(type, 4, 2, v, step, cells, begin, end, weights + r, sums + r);
        }
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
            for (int64_t at = 0; at < wide; at += 8) {
                const __m256 value = keys->v_type == HEADSTART_T_F16 ? headstart_value(HEADSTART_T_F16, cell, begin + at)
                    : keys->v_type == HEADSTART_T_BF16 ? headstart_value(HEADSTART_T_BF16, cell, begin + at)
                    : headstart_value(HEADSTART_T_Q8_0, cell, begin + at);
                _mm256_storeu_ps(room + i * wide + at, value);
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
        float score[8] = {*query->sink * HEADSTART_LOG2E, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                          -INFINITY, -INFINITY};
        float * const scores[1] = {score};
        const int all = headstart_top(score, 8, top);
        smaller = headstart_smaller((int64_t)top - all);
        sum *= smaller;
        headstart_weigh(scores, 1, 8, &all, &sum);
    }
    const float share = sum == 0 ? 0 : smaller / sum;
    for (int64_t i = begin; i < end; ++i) {
        query->out[i] = sums[i] * share;
    }
}

/* Bytes that `headstart_attend` needs for so many rows. */
static inline size_t headstart_attend_size(const headstart_keys * keys) {
    const size_t rows = HEADSTART_ROWS_TOGETHER, cells = HEADSTART_CELLS;
    return rows * headstart_query_size(keys) + 64
        + sizeof(float) * (rows * cells + rows * keys->dv + cells * keys->dv);
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
    headstart_make_queries(keys, queries, rows, (char *)(room + HEADSTART_CELLS * keys->dv), x);
    for (int64_t first = 0; first < cells; first += HEADSTART_CELLS) {
        const int count = (int)(cells - first < HEADSTART_CELLS ? cells - first : HEADSTART_CELLS);
        if (!headstart_seen(queries, rows, first, count)) {
            continue;
        }
        const char * then = keys->k + (first + count < cells ? first + count : first) * keys->k_step;
        headstart_score(keys, queries, rows, x, first, count, scores, then);
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
