/* Products of weights in half precision, bfloat16 or single precision and rows of numbers as they are.
 *
 * A sum has eight chains of single precision, of every eighth number each, rounded once a number.
 */
#pragma once
#include "x86_formats.h"
#ifdef HEADSTART_TILES
/* numbers that are unpacked at a time, asked for at a time, and rows with sums in a near cache */
#define HEADSTART_FLOATS 256
#define HEADSTART_FLOATS_ASKED 64
#define HEADSTART_FLOATS_PASS 64

HEADSTART_TILE __m256 headstart_float(const int type, const char * at) {
    switch (type) {
    case HEADSTART_T_F32: return _mm256_loadu_ps((const float *)at);
    case HEADSTART_T_F16: return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at));
    default: return _mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)at)), 16));
    }
}

/* Goes on with the sums of four rows of weights by `count` rows: a number in eight goes to each lane. */
HEADSTART_TILE void headstart_float_add(const int type, const int count, int64_t numbers, const char * a, size_t lda,
                                        const float * const x[], __m256 sums[][4]) {
    __m256 total[3][4];
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < 4; ++w) {
            total[r][w] = sums[r][w];
        }
    }
    for (int64_t k = 0; k < numbers; k += 8) {
        __m256 from[3];
        for (int r = 0; r < count; ++r) {
            from[r] = _mm256_loadu_ps(x[r] + k);
            HEADSTART_IN_REGISTER(from[r]);
        }
        for (int w = 0; w < 4; ++w) {
            __m256 weights = headstart_float(type, a + w * lda + k * headstart_float_size(type));
            HEADSTART_IN_REGISTER(weights);
            for (int r = 0; r < count; ++r) {
                total[r][w] = _mm256_fmadd_ps(weights, from[r], total[r][w]);
            }
        }
    }
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < 4; ++w) {
            sums[r][w] = total[r][w];
        }
    }
}

/* Up to three rows of numbers, from number `first` on. */
HEADSTART_TILE void headstart_float_some(const int type, int64_t count, int64_t numbers, const char * a, size_t lda,
                                         const char * const * x, int64_t first, __m256 (* sums)[4]) {
    const float * from[3];
    for (int64_t r = 0; r < count; ++r) {
        from[r] = (const float *)x[r] + first;
    }
    switch (count) {
    case 1: headstart_float_add(type, 1, numbers, a, lda, from, sums); break;
    case 2: headstart_float_add(type, 2, numbers, a, lda, from, sums); break;
    default: headstart_float_add(type, 3, numbers, a, lda, from, sums);
    }
}

/* How many rows go together of those that are left: four are two and two, and not three and one. */
HEADSTART_TILE int64_t headstart_together(int64_t rest) {
    return rest == 4 || rest == 2 ? 2 : rest < 3 ? rest : 3;
}

/* The sums of four registers, in one. */
HEADSTART_TILE __m128 headstart_four_lanes(const __m256 x[4]) {
    const __m256 both = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

/* Where the fours of rows of weights begin; the last rows once more where there are not four. */
HEADSTART_TILE int64_t headstart_four_from(int64_t at, int64_t begin, int64_t end) {
    return at + 4 <= end || end - begin < 4 ? at : end - 4;
}

/* Up to four rows of numbers: weights are met as they are read. */
HEADSTART_TILE void headstart_floats_few(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                         const char * a, size_t lda, const char * const * x,
                                         float * const * to, const char * then) {
    const size_t size = headstart_float_size(type);
    const int there = end - begin < 4 ? 1 : 4;
    for (int64_t at = begin; at < end; at += there) {
        const int64_t row = headstart_four_from(at, begin, end);
        const char * next = at + there < end ? a + (at + there) * lda : then;
        __m256 sums[4][4];
        memset(sums, 0, sizeof(sums));
        /* what comes next is asked for little by little: these wait for memory */
        for (int64_t k = 0; k < numbers; k += HEADSTART_FLOATS_ASKED) {
            const int64_t left = numbers - k, some = left < HEADSTART_FLOATS_ASKED ? left : HEADSTART_FLOATS_ASKED;
            for (int64_t line = 0; line < 4 * some * (int64_t)size; line += 64) {
                _mm_prefetch(next + line, _MM_HINT_T0);
            }
            next += 4 * some * size;
            for (int64_t r = 0, count; r < n; r += count) {
                count = headstart_together(n - r);
                headstart_float_some(type, count, some, a + row * lda + k * size, there == 4 ? lda : 0, x + r, k, sums + r);
            }
        }
        for (int64_t r = 0; r < n; ++r) {
            float four[4];
            _mm_storeu_ps(four, headstart_four_lanes(sums[r]));
            memcpy(to[r] + row, four, there * sizeof(float));
        }
    }
}

/* Many rows: four fours of weights in single precision meet each few of them, while those are in the
 * nearest cache. */
HEADSTART_TILE void headstart_floats_many(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                          const char * a, size_t lda, const char * const * x,
                                          float * const * to, const char * then) {
    const size_t size = headstart_float_size(type);
    const int there = end - begin < 4 ? 1 : 4;
    float wide[4][4][HEADSTART_FLOATS];
    for (int64_t pass = 0; pass < n; pass += HEADSTART_FLOATS_PASS) {
        const int64_t rows = n - pass < HEADSTART_FLOATS_PASS ? n - pass : HEADSTART_FLOATS_PASS;
        __m256 sums[4][HEADSTART_FLOATS_PASS][4];
        for (int64_t at = begin; at < end; at += 4 * there) {
            const int64_t left = (end - at + there - 1) / there, fours = left < 4 ? left : 4;
            const char * next = at + 4 * there < end ? a + (at + 4 * there) * lda : then;
            memset(sums, 0, sizeof(sums));
            for (int64_t k = 0; k < numbers; k += HEADSTART_FLOATS) {
                const int64_t some = numbers - k < HEADSTART_FLOATS ? numbers - k : HEADSTART_FLOATS;
                for (int64_t four = 0; four < fours; ++four) {
                    const char * from = a + headstart_four_from(at + four * there, begin, end) * lda + k * size;
                    for (int64_t line = 0; line < 4 * some * (int64_t)size; line += 64) {
                        _mm_prefetch(next + line, _MM_HINT_T0);
                    }
                    next += 4 * some * size;
                    for (int w = 0; w < 4; ++w) {
                        for (int64_t i = 0; i < some; i += 8) {
                            const char * weights = from + (there == 4 ? w * lda : 0) + i * size;
                            _mm256_storeu_ps(wide[four][w] + i, headstart_float(type, weights));
                        }
                    }
                }
                for (int64_t r = 0, count; r < rows; r += count) {
                    count = headstart_together(rows - r);
                    for (int64_t four = 0; four < fours; ++four) {
                        headstart_float_some(HEADSTART_T_F32, count, some, (const char *)wide[four],
                                             sizeof(**wide), x + pass + r, k, sums[four] + r);
                    }
                }
            }
            for (int64_t four = 0; four < fours; ++four) {
                for (int64_t r = 0; r < rows; ++r) {
                    float sum[4];
                    _mm_storeu_ps(sum, headstart_four_lanes(sums[four][r]));
                    memcpy(to[pass + r] + headstart_four_from(at + four * there, begin, end), sum, there * sizeof(float));
                }
            }
        }
    }
}
#endif
