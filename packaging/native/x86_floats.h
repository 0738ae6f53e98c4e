/* Products of weights in half precision, bfloat16 or single precision and rows of numbers as they are.
 *
 * A sum has a chain of single precision for each lane of a register, of every eighth or sixteenth
 * number, rounded once a number.
 */
#pragma once
#include "x86_formats.h"
#ifdef HEADSTART_TILES
/* numbers that are unpacked at a time, asked for at a time, and rows with sums in a near cache */
#define HEADSTART_FLOATS 256
#define HEADSTART_FLOATS_ASKED 64
#define HEADSTART_FLOATS_PASS 64
/* rows that meet four rows of weights at once, and rows that meet weights as they are read */
#ifdef HEADSTART_WIDE
#define HEADSTART_FLOAT_ROWS 5
#define HEADSTART_FLOATS_FEW 15
#else
#define HEADSTART_FLOAT_ROWS 3
#define HEADSTART_FLOATS_FEW 4
#endif

HEADSTART_TILE __m256 headstart_float(const int type, const char * at) {
    switch (type) {
    case HEADSTART_T_F32: return _mm256_loadu_ps((const float *)at);
    case HEADSTART_T_F16: return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)at));
    default: return _mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)at)), 16));
    }
}

/* As many numbers as a register has lanes. */
HEADSTART_TILE headstart_reals headstart_floats(const int type, const char * at) {
#ifdef HEADSTART_WIDE
    switch (type) {
    case HEADSTART_T_F32: return _mm512_loadu_ps((const float *)at);
    case HEADSTART_T_F16: return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)at));
    default: return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)at)), 16));
    }
#else
    return headstart_float(type, at);
#endif
}

/* The same, or the last eight and zeros. */
HEADSTART_TILE headstart_reals headstart_floats_or_eight(const int type, const char * at, const bool eight) {
#ifdef HEADSTART_WIDE
    if (eight) {
        return _mm512_zextps256_ps512(headstart_float(type, at));
    }
#endif
    (void)eight;
    return headstart_floats(type, at);
}

/* Numbers from `k` on of four rows of weights by `count` rows. */
HEADSTART_TILE void headstart_float_step(const int type, const int count, const bool eight, int64_t k, const char * a,
                                         size_t lda, const float * const x[], headstart_reals total[][4]) {
    headstart_reals from[HEADSTART_FLOAT_ROWS];
    for (int r = 0; r < count; ++r) {
        from[r] = headstart_floats_or_eight(HEADSTART_T_F32, (const char *)(x[r] + k), eight);
        HEADSTART_IN_REGISTER(from[r]);
    }
    for (int w = 0; w < 4; ++w) {
        headstart_reals weights = headstart_floats_or_eight(type, a + w * lda + k * headstart_float_size(type), eight);
        HEADSTART_IN_REGISTER(weights);
        for (int r = 0; r < count; ++r) {
            total[r][w] = headstart_all(fmadd_ps)(weights, from[r], total[r][w]);
        }
    }
}

/* Goes on with the sums of four rows of weights by `count` rows: a number in eight or sixteen goes to each lane. */
HEADSTART_TILE void headstart_float_add(const int type, const int count, int64_t numbers, const char * a, size_t lda,
                                        const float * const x[], headstart_reals sums[][4]) {
    headstart_reals total[HEADSTART_FLOAT_ROWS][4];
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < 4; ++w) {
            total[r][w] = sums[r][w];
        }
    }
    for (int64_t k = 0; k + HEADSTART_LANES <= numbers; k += HEADSTART_LANES) {
        headstart_float_step(type, count, false, k, a, lda, x, total);
    }
    if (numbers % HEADSTART_LANES) {
        headstart_float_step(type, count, true, numbers - 8, a, lda, x, total);
    }
    for (int r = 0; r < count; ++r) {
        for (int w = 0; w < 4; ++w) {
            sums[r][w] = total[r][w];
        }
    }
}

/* Up to HEADSTART_FLOAT_ROWS rows of numbers, from number `first` on. */
HEADSTART_TILE void headstart_float_some(const int type, int64_t count, int64_t numbers, const char * a, size_t lda,
                                         const char * const * x, int64_t first, headstart_reals (* sums)[4]) {
    const float * from[HEADSTART_FLOAT_ROWS];
    for (int64_t r = 0; r < count; ++r) {
        from[r] = (const float *)x[r] + first;
    }
    switch (count) {
    case 1: headstart_float_add(type, 1, numbers, a, lda, from, sums); break;
    case 2: headstart_float_add(type, 2, numbers, a, lda, from, sums); break;
    case 3: headstart_float_add(type, 3, numbers, a, lda, from, sums); break;
#ifdef HEADSTART_WIDE
    case 4: headstart_float_add(type, 4, numbers, a, lda, from, sums); break;
    default: headstart_float_add(type, 5, numbers, a, lda, from, sums);
#endif
    }
}

/* How many rows go together of those that are left: about as many each time. */
HEADSTART_TILE int64_t headstart_together(int64_t rest) {
    const int64_t rounds = (rest + HEADSTART_FLOAT_ROWS - 1) / HEADSTART_FLOAT_ROWS;
    return (rest + rounds - 1) / rounds;
}

/* The sums of four registers, in one. */
HEADSTART_TILE __m128 headstart_four_lanes(const headstart_reals all[4]) {
#ifdef HEADSTART_WIDE
    __m256 x[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = _mm256_add_ps(_mm512_castps512_ps256(all[i]), _mm512_extractf32x8_ps(all[i], 1));
    }
#else
    const __m256 * x = all;
#endif
    const __m256 both = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

/* Where the fours of rows of weights begin; the last rows once more where there are not four. */
HEADSTART_TILE int64_t headstart_four_from(int64_t at, int64_t begin, int64_t end) {
    return at + 4 <= end || end - begin < 4 ? at : end - 4;
}

/* Up to HEADSTART_FLOATS_FEW rows of numbers. */
HEADSTART_TILE void headstart_floats_few(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                         const char * a, size_t lda, const char * const * x,
                                         float * const * to, const char * then) {
    const size_t size = headstart_float_size(type);
    const int there = end - begin < 4 ? 1 : 4;
    for (int64_t at = begin; at < end; at += there) {
        const int64_t row = headstart_four_from(at, begin, end);
        const char * next = at + there < end ? a + (at + there) * lda : then;
        headstart_reals sums[HEADSTART_FLOATS_FEW][4];
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
    _Alignas(64) float wide[4][4][HEADSTART_FLOATS];
    for (int64_t pass = 0; pass < n; pass += HEADSTART_FLOATS_PASS) {
        const int64_t rows = n - pass < HEADSTART_FLOATS_PASS ? n - pass : HEADSTART_FLOATS_PASS;
        headstart_reals sums[4][HEADSTART_FLOATS_PASS][4];
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
