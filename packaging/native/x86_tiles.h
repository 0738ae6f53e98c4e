/* Products of quantized weights and many rows of numbers.
 *
 * Sixteen rows of weights are taken at a time. Their next 256 numbers are unpacked to bytes, four
 * numbers of eight rows in a register, and meet every row of numbers while they are in the nearest
 * cache; so weights are read from memory once for many rows, and a product of four numbers needs no
 * sum across a register. What comes next is fetched meanwhile, from beginning to end.
 *
 * The sum of a row and a row is defined without regard to all this, so that it has the same bits for
 * one row and for many: products and their sums are whole numbers within a block (32 numbers, or 256
 * in K-quants), which are exact in any order; blocks follow each other in one chain of single
 * precision, `sum = scale * whole + sum` rounded once. (llama.cpp has eight such chains for a row.)
 */
#pragma once
#include "x86_unpack.h"
#ifdef HEADSTART_TILES
/* rows that meet a tile at once (more need registers that are not there), and with sums in the nearest cache */
#ifdef HEADSTART_WIDE
#define HEADSTART_AT_ONCE 6
#else
#define HEADSTART_AT_ONCE 2
#endif
#define HEADSTART_PASS 128

/* The sums of 32 numbers' products, times a scale: in each lane a row of weights; `count` rows. */
HEADSTART_TILE void headstart_sums(const int type, const int count, const headstart_tile * tile, int block,
                                   const int8_t * const x[], headstart_ints scale[2][HEADSTART_HALVES],
                                   headstart_ints sums[HEADSTART_HALVES][HEADSTART_AT_ONCE]) {
    headstart_ints some[HEADSTART_HALVES][HEADSTART_AT_ONCE] = {{headstart_all(set1_epi32)(0)}};
#ifdef HEADSTART_DOTS
    /* a scale for all 32, or for each 16 */
    const int together = type == HEADSTART_T_Q6_K ? 4 : 8;
    const bool scaled = headstart_tile_is_k(type);
    for (int i = 0; i < 8; ++i) {
        for (int half = 0; half < HEADSTART_HALVES; ++half) {
            const headstart_ints q = headstart_ints_of(tile->q[block][i], half);
            for (int r = 0; r < count; ++r) {
                const headstart_ints before = !scaled ? sums[half][r]
                    : i % together ? some[half][r] : headstart_all(set1_epi32)(0);
                const headstart_ints numbers = headstart_all(set1_epi32)(headstart_word(x[r] + 4 * i));
#ifdef HEADSTART_WIDE
                const headstart_ints after = _mm512_dpbusd_epi32(before, q, numbers);
#else
                const headstart_ints after = _mm256_dpbusd_avx_epi32(before, q, numbers);
#endif
                if (!scaled) {
                    sums[half][r] = after;
                    continue;
                }
                some[half][r] = after;
                if (i % together == together - 1) {
                    sums[half][r] = headstart_all(add_epi32)(
                        sums[half][r], headstart_all(mullo_epi32)(after, scale[i / 4][half]));
                }
            }
        }
    }
#else
    const int room = headstart_tile_room(type);
    const bool has_sign = headstart_tile_has_sign(type);
    for (int i = 0; i < 8; ++i) {
        for (int r = 0; r < count; ++r) {
            const __m256i numbers = headstart_every(x[r] + 4 * i);
            for (int half = 0; half < 2; ++half) {
                const __m256i made = headstart_products(
                    has_sign, tile->q[block][i][half], has_sign ? tile->size[block][i][half] : numbers, numbers);
                some[half][r] = i % room ? _mm256_add_epi16(some[half][r], made) : made;
                HEADSTART_IN_ORDER(some[half][r]);
                if (i % room == room - 1) {
                    sums[half][r] = _mm256_add_epi32(sums[half][r], _mm256_madd_epi16(some[half][r], scale[i / 4][half]));
                }
            }
        }
    }
#endif
}

HEADSTART_TILE void headstart_meet_32(const int type, const int count, int blocks, const headstart_tile * tile,
                                      const char * const x[], float * const sums[]) {
    const bool two = type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1;
    headstart_ints ones[2][HEADSTART_HALVES];
    headstart_reals total[HEADSTART_HALVES][HEADSTART_AT_ONCE];
    for (int half = 0; half < HEADSTART_HALVES; ++half) {
        ones[0][half] = ones[1][half] = headstart_all(set1_epi16)(1);
        for (int r = 0; r < count; ++r) {
            total[half][r] = headstart_all(loadu_ps)(sums[r] + HEADSTART_LANES * half);
        }
    }
    for (int block = 0; block < blocks; ++block) {
        headstart_ints whole[HEADSTART_HALVES][HEADSTART_AT_ONCE];
        const int8_t * numbers[HEADSTART_AT_ONCE];
        for (int r = 0; r < count; ++r) {
            const headstart_x32 * from = (const headstart_x32 *)x[r] + block;
            numbers[r] = from->q;
            for (int half = 0; half < HEADSTART_HALVES; ++half) {
                whole[half][r] = headstart_all(set1_epi32)(-headstart_tile_more(type) * from->sum);
            }
        }
        headstart_sums(type, count, tile, block, numbers, ones, whole);
        for (int r = 0; r < count; ++r) {
            const headstart_x32 * from = (const headstart_x32 *)x[r] + block;
            const headstart_reals d = headstart_all(set1_ps)(from->d);
            for (int half = 0; half < HEADSTART_HALVES; ++half) {
                total[half][r] = headstart_all(fmadd_ps)(
                    headstart_all(mul_ps)(headstart_reals_of(tile->d[block], half), d),
                    headstart_all(cvtepi32_ps)(whole[half][r]), total[half][r]);
                if (two) {
                    const headstart_reals sum = headstart_all(set1_ps)(from->d * (float)from->sum);
                    total[half][r] = headstart_all(fmadd_ps)(headstart_reals_of(tile->m[block], half), sum, total[half][r]);
                }
            }
        }
    }
    for (int r = 0; r < count; ++r) {
        for (int half = 0; half < HEADSTART_HALVES; ++half) {
            headstart_all(storeu_ps)(sums[r] + HEADSTART_LANES * half, total[half][r]);
        }
    }
}

HEADSTART_TILE void headstart_meet_256(const int type, const int count, const headstart_tile * tile,
                                       const char * const x[], float * const sums[]) {
    const bool least = type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K;
    const int more = headstart_tile_more(type);
    headstart_ints whole[HEADSTART_HALVES][HEADSTART_AT_ONCE], less[HEADSTART_HALVES][HEADSTART_AT_ONCE];
    for (int r = 0; r < count; ++r) {
        for (int half = 0; half < HEADSTART_HALVES; ++half) {
            whole[half][r] = less[half][r] = headstart_all(set1_epi32)(0);
        }
    }
    for (int block = 0; block < 8; ++block) {
        const int8_t * numbers[HEADSTART_AT_ONCE];
        headstart_ints scale[2][HEADSTART_HALVES];
        for (int half = 0; half < HEADSTART_HALVES; ++half) {
            scale[0][half] = headstart_ints_of(tile->scale[type == HEADSTART_T_Q6_K ? 2 * block : block], half);
            scale[1][half] = headstart_ints_of(tile->scale[type == HEADSTART_T_Q6_K ? 2 * block + 1 : block], half);
        }
        for (int r = 0; r < count; ++r) {
            numbers[r] = ((const headstart_x256 *)x[r])->q + 32 * block;
        }
        headstart_sums(type, count, tile, block, numbers, scale, whole);
    }
    for (int r = 0; r < count; ++r) {
        const headstart_x256 * from = (const headstart_x256 *)x[r];
        const headstart_reals d = headstart_all(set1_ps)(from->d);
        for (int i = 0; i < (type == HEADSTART_T_Q6_K ? 8 : least || more ? 4 : 0); ++i) {
            const headstart_ints both = headstart_all(set1_epi32)(headstart_word(
                type == HEADSTART_T_Q6_K ? from->sums + 2 * i : from->twice + 2 * i));
            for (int half = 0; half < HEADSTART_HALVES; ++half) {
                less[half][r] = headstart_add_pairs(less[half][r], headstart_ints_of(tile->least[i], half), both);
            }
        }
        for (int half = 0; half < HEADSTART_HALVES; ++half) {
            if (more) {
                /* a power of 2 */
                whole[half][r] = headstart_all(sub_epi32)(
                    whole[half][r], headstart_all(slli_epi32)(less[half][r], more == 128 ? 7 : 5));
            }
            headstart_reals sum = headstart_all(mul_ps)(headstart_reals_of(tile->d[0], half),
                                                        headstart_all(cvtepi32_ps)(whole[half][r]));
            if (least) {
                sum = headstart_all(fnmadd_ps)(headstart_reals_of(tile->m[0], half),
                                               headstart_all(cvtepi32_ps)(less[half][r]), sum);
            }
            float * to = sums[r] + HEADSTART_LANES * half;
            headstart_all(storeu_ps)(to, headstart_all(fmadd_ps)(d, sum, headstart_all(loadu_ps)(to)));
        }
    }
}

HEADSTART_TILE void headstart_meet(const int type, const int count, int blocks, const headstart_tile * tile,
                                   const char * const x[], float * const sums[]) {
    if (headstart_tile_is_k(type)) {
        headstart_meet_256(type, count, tile, x, sums);
    } else {
        headstart_meet_32(type, count, blocks, tile, x, sums);
    }
}

/* Rows of weights from `begin` to `end` by the n rows at `x`; `to` has a place for each of them, with
 * its first sum at the first row of weights. What is fetched at the end is what
 * lies at `then`; it is not read. */
HEADSTART_TILE void headstart_multiply_tiles(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                             const char * a, size_t lda, const char * const * x,
                                             float * const * to, const char * then) {
    const size_t size = headstart_tile_block(type);
    const int wide = headstart_tile_is_k(type) ? 256 : 32;
    headstart_tile tile;
    for (int64_t pass = 0; pass < n; pass += HEADSTART_PASS) {
        const int rows = (int)(n - pass < HEADSTART_PASS ? n - pass : HEADSTART_PASS);
        float sums[HEADSTART_PASS][HEADSTART_TILE_ROWS];
        for (int64_t at = begin; at < end; at += HEADSTART_TILE_ROWS) {
            const int there = (int)(end - at < HEADSTART_TILE_ROWS ? end - at : HEADSTART_TILE_ROWS);
            const char * following = at + HEADSTART_TILE_ROWS < end ? a + (at + HEADSTART_TILE_ROWS) * lda : then;
            memset(sums, 0, rows * sizeof(*sums));
            for (int64_t k = 0; k < numbers; k += HEADSTART_TILE_NUMBERS) {
                const int64_t left = numbers - k;
                const int blocks = (int)(left < HEADSTART_TILE_NUMBERS ? left : HEADSTART_TILE_NUMBERS) / wide;
                for (int half = 0; half < 2; ++half) {
                    for (int block = 0; block < blocks; ++block) {
                        const uint8_t * from[8];
                        for (int r = 0; r < 8; ++r) {
                            /* beyond the last row, that one again */
                            const int row = 8 * half + r < there ? 8 * half + r : there - 1;
                            from[r] = (const uint8_t *)a + (at + row) * lda + (k / wide + block) * size;
                        }
                        if (headstart_tile_is_k(type)) {
                            headstart_unpack_256(type, from, &tile, half, &following);
                        } else {
                            headstart_ask(&following, 8 * size);
                            headstart_unpack_32(type, from, &tile, block, half);
                        }
                    }
                }
                for (int row = 0; row < rows;) {
                    const int count = rows - row < HEADSTART_AT_ONCE ? rows - row : HEADSTART_AT_ONCE;
                    const char * from[HEADSTART_AT_ONCE];
                    float * into[HEADSTART_AT_ONCE];
                    for (int r = 0; r < count; ++r) {
                        from[r] = x[pass + row + r] + headstart_x_size(type, k);
                        into[r] = sums[row + r];
                    }
                    switch (count) {
                    case 1: headstart_meet(type, 1, blocks, &tile, from, into); break;
                    case 2: headstart_meet(type, 2, blocks, &tile, from, into); break;
#if HEADSTART_AT_ONCE > 2
                    case 3: headstart_meet(type, 3, blocks, &tile, from, into); break;
                    case 4: headstart_meet(type, 4, blocks, &tile, from, into); break;
                    case 5: headstart_meet(type, 5, blocks, &tile, from, into); break;
                    default: headstart_meet(type, 6, blocks, &tile, from, into);
#endif
                    }
                    row += count;
                }
            }
            for (int row = 0; row < rows; ++row) {
                memcpy(to[pass + row] + at, sums[row], there * sizeof(float));
            }
        }
    }
}
#endif
