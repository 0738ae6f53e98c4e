/* Tiles of weights: 256 numbers of sixteen rows, unpacked to bytes.
 *
 * Four numbers of a row lie side by side, so that a product of four needs no sum across a register.
 */
#pragma once
#include "x86_formats.h"
#ifdef HEADSTART_TILES
/* rows of weights in a tile, and numbers of each */
#define HEADSTART_TILE_ROWS 16
#define HEADSTART_TILE_NUMBERS 256
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
#endif
