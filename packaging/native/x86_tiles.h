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
#include "x86_formats.h"
#ifdef HEADSTART_TILES
/* rows of weights in a tile, and numbers of each */
#define HEADSTART_TILE_ROWS 16
#define HEADSTART_TILE_NUMBERS 256
/* rows that meet it at once (more need registers that are not there), and with sums in the nearest cache */
#ifdef HEADSTART_WIDE
#define HEADSTART_AT_ONCE 6
#else
#define HEADSTART_AT_ONCE 2
#endif
#define HEADSTART_PASS 128
/* registers for a number of each row */
#define HEADSTART_HALVES (HEADSTART_TILE_ROWS / HEADSTART_LANES)

/* 256 numbers of 16 rows of weights, eight rows in each half: `q` has four numbers of each row side by
 * side; `size` has their absolute values where they have a sign. Scales are pairs of 16 bits, or 32 bits. */
typedef struct {
    _Alignas(64) __m256i q[8][8][2];
#ifndef HEADSTART_DOTS
    __m256i size[8][8][2];
#endif
    __m256i scale[16][2], least[8][2];
    __m256 d[8][2], m[8][2];
} headstart_tile;

/* A half, or both of them. */
HEADSTART_TILE headstart_ints headstart_ints_of(const __m256i * halves, int half) {
    return ((const headstart_ints *)halves)[half];
}

HEADSTART_TILE headstart_reals headstart_reals_of(const __m256 * halves, int half) {
    return ((const headstart_reals *)halves)[half];
}

HEADSTART_TILE headstart_ints headstart_add_pairs(headstart_ints sum, headstart_ints a, headstart_ints b) {
#ifdef HEADSTART_WIDE
    return _mm512_dpwssd_epi32(sum, a, b);
#else
    return headstart_pairs(sum, a, b);
#endif
}

HEADSTART_TILE void headstart_keep(const int type, headstart_tile * tile, int block, int step, int half, __m256i q) {
    if (type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_IQ4_XS || type == HEADSTART_T_MXFP4) {
        q = headstart_look(type, headstart_tile_more(type), q);
    }
    tile->q[block][step][half] = type == HEADSTART_T_Q8_0 ? headstart_positive(type, q) : q;
#ifndef HEADSTART_DOTS
    if (headstart_tile_has_sign(type)) {
        tile->size[block][step][half] = _mm256_abs_epi8(q);
    }
#endif
}

/* Byte `i` of each word as a scale. */
HEADSTART_TILE __m256i headstart_scale_of(__m256i words, const int i, const bool is_signed) {
#ifdef HEADSTART_DOTS
    return is_signed ? _mm256_srai_epi32(_mm256_slli_epi32(words, 24 - 8 * i), 24)
                     : _mm256_and_si256(_mm256_srli_epi32(words, 8 * i), _mm256_set1_epi32(0xff));
#else
    return headstart_pair_of(words, i, i, is_signed);
#endif
}

/* Asks for bytes that are read soon, and moves on. A processor has room for some such requests at a time:
 * they go between what computes. */
HEADSTART_TILE void headstart_ask(const char ** at, size_t bytes) {
    const char * const end = *at + bytes;
    for (const char * line = *at; line < end; line += 64) {
        _mm_prefetch(line, _MM_HINT_T0);
    }
    *at = end;
}

/* A block of 32 numbers of eight rows. */
HEADSTART_TILE void headstart_unpack_32(const int type, const uint8_t * const rows[8], headstart_tile * tile,
                                        int block, int half) {
    const bool two = type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1;
    const bool five = type == HEADSTART_T_Q5_0 || type == HEADSTART_T_Q5_1;
    const size_t head = type == HEADSTART_T_MXFP4 ? 1 : two ? 4 : 2;
    const __m256i heads = headstart_words(rows, 0);
    headstart_scales_32(type, heads, &tile->d[block][half], &tile->m[block][half]);
    if (type == HEADSTART_T_Q8_0) {
        for (int part = 0; part < 2; ++part) {
            __m256i x[4];
            headstart_turn(rows, head + 16 * part, x);
            for (int i = 0; i < 4; ++i) {
                headstart_keep(type, tile, block, 4 * part + i, half, x[i]);
            }
        }
        return;
    }
    const __m256i fifth = five ? headstart_words(rows, head) : _mm256_setzero_si256();
    __m256i x[4];
    headstart_turn(rows, head + (five ? 4 : 0), x);
    for (int i = 0; i < 8; ++i) {
        __m256i q = headstart_and(i < 4 ? x[i] : _mm256_srli_epi16(x[i - 4], 4), 15);
        if (five) {
            /* number 4 * i + k has bit 4 * i + k of the word */
            const __m256i byte = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
            const __m256i spread = _mm256_shuffle_epi8(fifth, _mm256_add_epi8(byte, _mm256_set1_epi8((char)(i / 2))));
            const __m256i bits = _mm256_set1_epi32(i % 2 ? (int)0x80402010u : 0x08040201);
            q = _mm256_or_si256(q, headstart_and(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bits), bits), 16));
        }
        headstart_keep(type, tile, block, i, half, q);
    }
}

/* Scales and minima of Q4_K and Q5_K: 6 bits each, in 12 bytes after the two numbers of the block. */
HEADSTART_TILE void headstart_unpack_scales(const uint8_t * const rows[8], headstart_tile * tile, int half) {
    __m256i head[4];
    headstart_turn(rows, 0, head);
    tile->d[0][half] = headstart_halves(head[0]);
    tile->m[0][half] = headstart_halves(_mm256_srli_epi32(head[0], 16));
    const __m256i scales[2] = {
        headstart_and(head[1], 0x3f),
        _mm256_or_si256(headstart_and(head[3], 0x0f), headstart_and(_mm256_srli_epi32(head[1], 2), 0x30)),
    };
    const __m256i least[2] = {
        headstart_and(head[2], 0x3f),
        _mm256_or_si256(headstart_and(_mm256_srli_epi32(head[3], 4), 0x0f),
                        headstart_and(_mm256_srli_epi32(head[2], 2), 0x30)),
    };
    for (int i = 0; i < 8; ++i) {
        tile->scale[i][half] = headstart_scale_of(scales[i / 4], i % 4, false);
    }
    for (int i = 0; i < 4; ++i) {
        tile->least[i][half] = headstart_pair_of(least[i / 2], i % 2 * 2, i % 2 * 2 + 1, false);
    }
}

/* A block of 256 numbers of eight rows; meanwhile as much is asked for. */
HEADSTART_TILE void headstart_unpack_256(const int type, const uint8_t * const rows[8], headstart_tile * tile,
                                         int half, const char ** following) {
    const size_t size = headstart_tile_block(type);
    if (type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K) {
        headstart_unpack_scales(rows, tile, half);
        for (int part = 0; part < 2; ++part) {
            __m256i fifth[4];
            if (type == HEADSTART_T_Q5_K) {
                headstart_turn(rows, 16 + 16 * part, fifth);
            }
            for (int j = 0; j < 4; ++j) {
                __m256i x[4];
                headstart_ask(following, size);
                headstart_turn(rows, (type == HEADSTART_T_Q5_K ? 48 : 16) + 32 * j + 16 * part, x);
                for (int i = 0; i < 4; ++i) {
                    __m256i low = headstart_and(x[i], 15), high = headstart_and(_mm256_srli_epi16(x[i], 4), 15);
                    if (type == HEADSTART_T_Q5_K) {
                        low = _mm256_or_si256(low, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth[i], 2 * j), 1), 4));
                        high = _mm256_or_si256(high, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth[i], 2 * j + 1), 1), 4));
                    }
                    headstart_keep(type, tile, 2 * j, 4 * part + i, half, low);
                    headstart_keep(type, tile, 2 * j + 1, 4 * part + i, half, high);
                }
            }
        }
    } else if (type == HEADSTART_T_Q6_K) {
        tile->d[0][half] = headstart_halves(_mm256_srli_epi32(headstart_words(rows, 206), 16));
        __m256i scales[4];
        headstart_turn(rows, 192, scales);
        for (int i = 0; i < 16; ++i) {
            tile->scale[i][half] = headstart_scale_of(scales[i / 4], i % 4, true);
        }
        for (int i = 0; i < 8; ++i) {
            tile->least[i][half] = headstart_pair_of(scales[i / 2], i % 2 * 2, i % 2 * 2 + 1, true);
        }
        for (int part = 0; part < 4; ++part) {
            /* 128 numbers, and the first or last 16 of each 32 */
            const int big = part / 2, small = part % 2;
            headstart_ask(following, 2 * size);
            __m256i more[4], x[4], y[4];
            headstart_turn(rows, 128 + 32 * big + 16 * small, more);
            headstart_turn(rows, 64 * big + 16 * small, x);
            headstart_turn(rows, 64 * big + 32 + 16 * small, y);
            for (int i = 0; i < 4; ++i) {
                const __m256i low[4] = {x[i], y[i], _mm256_srli_epi16(x[i], 4), _mm256_srli_epi16(y[i], 4)};
                const __m256i high[4] = {_mm256_slli_epi16(more[i], 4), _mm256_slli_epi16(more[i], 2), more[i],
                                         _mm256_srli_epi16(more[i], 2)};
                for (int j = 0; j < 4; ++j) {
                    headstart_keep(type, tile, 4 * big + j, 4 * small + i, half,
                                   _mm256_or_si256(headstart_and(low[j], 15), headstart_and(high[j], 0x30)));
                }
            }
        }
    } else {
        /* IQ4_XS: a number, 16 bits with the scales' upper 2, 4 bytes with their lower 4 */
        const __m256i head = headstart_words(rows, 0), low = headstart_words(rows, 4);
        __m256i even = low;
        tile->d[0][half] = headstart_halves(head);
        for (int i = 0; i < 8; ++i) {
            headstart_ask(following, size);
            const __m256i scale = _mm256_or_si256(
                _mm256_and_si256(_mm256_srli_epi32(low, 4 * i), _mm256_set1_epi32(15)),
                _mm256_and_si256(_mm256_srli_epi32(head, 12 + 2 * i), _mm256_set1_epi32(0x30)));
            const __m256i signed_scale = _mm256_sub_epi32(scale, _mm256_set1_epi32(32));
            const __m256i upper = _mm256_slli_epi32(signed_scale, 16);
#ifdef HEADSTART_DOTS
            tile->scale[i][half] = signed_scale;
            tile->least[i / 2][half] = _mm256_blend_epi16(even, upper, 0xaa);
            even = signed_scale;
#else
            tile->scale[i][half] = _mm256_blend_epi16(signed_scale, upper, 0xaa);
            (void)even;
#endif
            __m256i x[4];
            headstart_turn(rows, 8 + 16 * i, x);
            for (int k = 0; k < 4; ++k) {
                headstart_keep(type, tile, i, k, half, headstart_and(x[k], 15));
                headstart_keep(type, tile, i, 4 + k, half, headstart_and(_mm256_srli_epi16(x[k], 4), 15));
            }
        }
    }
}

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
