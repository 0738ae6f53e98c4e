/* Products of quantized weights and rows of numbers, for x86 with AVX2 and without AVX-512, in place
 * of llama.cpp's.
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
 * Rows of numbers are made 8 bits a number as in llama.cpp, but their scales stay single precision.
 */
#pragma once
#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) \
    && (!defined(__AVX512F__) || defined(HEADSTART_TILES_ANYWHERE))
#define HEADSTART_TILES 1
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEADSTART_TILE static inline __attribute__((always_inline))
/* Compilers like to add whole numbers up in another order, which takes more registers than there are. */
#define HEADSTART_IN_ORDER(x) __asm__("" : "+x"(x))
/* ggml's numbers of types */
enum {
    HEADSTART_T_F32 = 0, HEADSTART_T_F16 = 1, HEADSTART_T_BF16 = 30,
    HEADSTART_T_Q4_0 = 2, HEADSTART_T_Q4_1 = 3, HEADSTART_T_Q5_0 = 6, HEADSTART_T_Q5_1 = 7,
    HEADSTART_T_Q8_0 = 8, HEADSTART_T_Q4_K = 12, HEADSTART_T_Q5_K = 13, HEADSTART_T_Q6_K = 14,
    HEADSTART_T_IQ4_NL = 20, HEADSTART_T_IQ4_XS = 23, HEADSTART_T_MXFP4 = 39,
};
/* rows of weights in a tile, and numbers of each */
#define HEADSTART_TILE_ROWS 16
#define HEADSTART_TILE_NUMBERS 256
/* rows that meet it at once (more need registers that are not there), and with sums in the nearest cache */
#define HEADSTART_AT_ONCE 2
#define HEADSTART_PASS 128

/* Rows of numbers in 8 bits: blocks of 32 with their sum, */
typedef struct { int8_t q[32]; float d; int32_t sum; } headstart_x32;
/* and of 256 with the sums of each 16, and of each 32. */
typedef struct { int8_t q[256]; int16_t sums[16], twice[8]; float d; } headstart_x256;

/* 256 numbers of 16 rows of weights: `q` has four numbers of eight rows in a register; `size` has
 * their absolute values where they have a sign. Scales are pairs of 16 bits. */
typedef struct {
    __m256i q[8][8][2], size[8][8][2], scale[16][2], least[8][2];
    __m256 d[8][2], m[8][2];
} headstart_tile;

HEADSTART_TILE size_t headstart_tile_block(const int type) {
    switch (type) {
    case HEADSTART_T_Q4_0: case HEADSTART_T_IQ4_NL: return 18;
    case HEADSTART_T_Q4_1: return 20;
    case HEADSTART_T_Q5_0: return 22;
    case HEADSTART_T_Q5_1: return 24;
    case HEADSTART_T_Q8_0: return 34;
    case HEADSTART_T_MXFP4: return 17;
    case HEADSTART_T_Q4_K: return 144;
    case HEADSTART_T_Q5_K: return 176;
    case HEADSTART_T_Q6_K: return 210;
    case HEADSTART_T_IQ4_XS: return 136;
    default: return 0;
    }
}

/* Whether blocks have 256 numbers. */
HEADSTART_TILE bool headstart_tile_is_k(const int type) {
    return type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K || type == HEADSTART_T_Q6_K
        || type == HEADSTART_T_IQ4_XS;
}

/* Whether numbers have a sign, and absolute values of more than 7 bits with the products' room. */
HEADSTART_TILE bool headstart_tile_has_sign(const int type) {
    return type == HEADSTART_T_Q8_0 || type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_IQ4_XS;
}

/* What was added to each number to make it positive. */
HEADSTART_TILE int headstart_tile_more(const int type) {
    return type == HEADSTART_T_Q4_0 ? 8 : type == HEADSTART_T_Q5_0 ? 16 : type == HEADSTART_T_Q6_K ? 32
        : type == HEADSTART_T_MXFP4 ? 12 : 0;
}

/* Products of four numbers that 16 bits have room for: of 2 * number * 127 each. */
HEADSTART_TILE int headstart_tile_room(const int type) {
    switch (type) {
    case HEADSTART_T_Q4_0: case HEADSTART_T_Q4_1: case HEADSTART_T_Q4_K: return 8;
    case HEADSTART_T_Q5_0: case HEADSTART_T_Q5_1: case HEADSTART_T_Q5_K: case HEADSTART_T_MXFP4: return 4;
    case HEADSTART_T_Q6_K: return 2;
    default: return 1;
    }
}

/* 16 bytes of eight rows: out[i] has the i-th four bytes of each. */
HEADSTART_TILE void headstart_turn(const uint8_t * const rows[8], size_t at, __m256i out[4]) {
    __m256i a[4];
    for (int r = 0; r < 4; ++r) {
        a[r] = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(rows[r] + at))),
            _mm_loadu_si128((const __m128i *)(rows[r + 4] + at)), 1);
    }
    const __m256i low = _mm256_unpacklo_epi32(a[0], a[1]), high = _mm256_unpackhi_epi32(a[0], a[1]);
    const __m256i low2 = _mm256_unpacklo_epi32(a[2], a[3]), high2 = _mm256_unpackhi_epi32(a[2], a[3]);
    out[0] = _mm256_unpacklo_epi64(low, low2);
    out[1] = _mm256_unpackhi_epi64(low, low2);
    out[2] = _mm256_unpacklo_epi64(high, high2);
    out[3] = _mm256_unpackhi_epi64(high, high2);
}

HEADSTART_TILE int32_t headstart_word(const void * at) {
    int32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

HEADSTART_TILE __m256i headstart_every(const void * at) {
    return _mm256_set1_epi32(headstart_word(at));
}

/* Four bytes of each of eight rows. */
HEADSTART_TILE __m256i headstart_words(const uint8_t * const rows[8], size_t at) {
    return _mm256_setr_epi32(headstart_word(rows[0] + at), headstart_word(rows[1] + at),
                             headstart_word(rows[2] + at), headstart_word(rows[3] + at),
                             headstart_word(rows[4] + at), headstart_word(rows[5] + at),
                             headstart_word(rows[6] + at), headstart_word(rows[7] + at));
}

/* The low half of each word, as a number of half precision. */
HEADSTART_TILE __m256 headstart_halves(__m256i words) {
    const __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xffff));
    return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}

/* Two bytes of each word as 16 bits each: positive, or with a sign. */
HEADSTART_TILE __m256i headstart_pair_of(__m256i words, int first, int second, const bool is_signed) {
    const int word = is_signed ? first << 8 | second << 24 | 0x800080
                               : first | second << 16 | (int)0x80008000u;
    const __m256i at = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
    const __m256i mask = _mm256_set1_epi32(is_signed ? (int)0xff00ff00u : 0x00ff00ff);
    const __m256i pair = _mm256_shuffle_epi8(
        words, _mm256_add_epi32(_mm256_and_si256(at, mask), _mm256_set1_epi32(word)));
    return is_signed ? _mm256_srai_epi16(pair, 8) : pair;
}

HEADSTART_TILE __m256i headstart_and(__m256i x, int mask) {
    return _mm256_and_si256(x, _mm256_set1_epi8((char)mask));
}

HEADSTART_TILE __m256i headstart_look(const int type, __m256i nibbles) {
    /* with 12 more in MXFP4 */
    const __m128i values = type == HEADSTART_T_MXFP4
        ? _mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0)
        : _mm_setr_epi8(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), nibbles);
}

HEADSTART_TILE void headstart_keep(const int type, headstart_tile * tile, int block, int step, int half, __m256i q) {
    if (type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_IQ4_XS || type == HEADSTART_T_MXFP4) {
        q = headstart_look(type, q);
    }
    tile->q[block][step][half] = q;
    if (headstart_tile_has_sign(type)) {
        tile->size[block][step][half] = _mm256_abs_epi8(q);
    }
}

HEADSTART_TILE void headstart_scales_32(const int type, __m256i heads, __m256 * d, __m256 * m) {
    if (type == HEADSTART_T_MXFP4) {
        /* half of 2^(e - 127), as its numbers are twice what they mean; 0 and 1 are below the normal ones */
        const __m256i e = _mm256_and_si256(heads, _mm256_set1_epi32(0xff));
        const __m256i tiny = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e);
        const __m256i usual = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
        const __m256i is_tiny = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);
        *d = _mm256_castsi256_ps(_mm256_blendv_epi8(usual, tiny, is_tiny));
    } else {
        *d = headstart_halves(heads);
    }
    if (type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1) {
        *m = headstart_halves(_mm256_srli_epi32(heads, 16));
    }
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
        tile->scale[i][half] = headstart_pair_of(scales[i / 4], i % 4, i % 4, false);
    }
    for (int i = 0; i < 4; ++i) {
        tile->least[i][half] = headstart_pair_of(least[i / 2], i % 2 * 2, i % 2 * 2 + 1, false);
    }
}

/* A block of 256 numbers of eight rows. */
HEADSTART_TILE void headstart_unpack_256(const int type, const uint8_t * const rows[8], headstart_tile * tile,
                                         int half) {
    if (type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K) {
        headstart_unpack_scales(rows, tile, half);
        for (int part = 0; part < 2; ++part) {
            __m256i fifth[4];
            if (type == HEADSTART_T_Q5_K) {
                headstart_turn(rows, 16 + 16 * part, fifth);
            }
            for (int j = 0; j < 4; ++j) {
                __m256i x[4];
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
            tile->scale[i][half] = headstart_pair_of(scales[i / 4], i % 4, i % 4, true);
        }
        for (int i = 0; i < 8; ++i) {
            tile->least[i][half] = headstart_pair_of(scales[i / 2], i % 2 * 2, i % 2 * 2 + 1, true);
        }
        for (int part = 0; part < 4; ++part) {
            /* 128 numbers, and the first or last 16 of each 32 */
            const int big = part / 2, small = part % 2;
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
        tile->d[0][half] = headstart_halves(head);
        for (int i = 0; i < 8; ++i) {
            const __m256i scale = _mm256_or_si256(
                _mm256_and_si256(_mm256_srli_epi32(low, 4 * i), _mm256_set1_epi32(15)),
                _mm256_and_si256(_mm256_srli_epi32(head, 12 + 2 * i), _mm256_set1_epi32(0x30)));
            const __m256i signed_scale = _mm256_sub_epi32(scale, _mm256_set1_epi32(32));
            tile->scale[i][half] = _mm256_or_si256(_mm256_and_si256(signed_scale, _mm256_set1_epi32(0xffff)),
                                                   _mm256_slli_epi32(signed_scale, 16));
            __m256i x[4];
            headstart_turn(rows, 8 + 16 * i, x);
            for (int k = 0; k < 4; ++k) {
                headstart_keep(type, tile, i, k, half, headstart_and(x[k], 15));
                headstart_keep(type, tile, i, 4 + k, half, headstart_and(_mm256_srli_epi16(x[k], 4), 15));
            }
        }
    }
}

HEADSTART_TILE __m256i headstart_products(const bool has_sign, __m256i q, __m256i size, __m256i x) {
    return has_sign ? _mm256_maddubs_epi16(size, _mm256_sign_epi8(x, q)) : _mm256_maddubs_epi16(q, x);
}

/* The sums of 32 numbers' products, times a scale: in each lane a row of weights; `count` rows. */
HEADSTART_TILE void headstart_sums(const int type, const int count, const headstart_tile * tile, int block,
                                   const int8_t * const x[], __m256i scale[2][2], __m256i sums[2][HEADSTART_AT_ONCE]) {
    const int room = headstart_tile_room(type);
    const bool has_sign = headstart_tile_has_sign(type);
    __m256i some[2][HEADSTART_AT_ONCE] = {{_mm256_setzero_si256()}};
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
}

HEADSTART_TILE void headstart_meet_32(const int type, const int count, int blocks, const headstart_tile * tile,
                                      const char * const x[], float * const sums[]) {
    const __m256i one = _mm256_set1_epi16(1);
    __m256i ones[2][2] = {{one, one}, {one, one}};
    const bool two = type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1;
    __m256 total[2][HEADSTART_AT_ONCE];
    for (int r = 0; r < count; ++r) {
        for (int half = 0; half < 2; ++half) {
            total[half][r] = _mm256_loadu_ps(sums[r] + 8 * half);
        }
    }
    for (int block = 0; block < blocks; ++block) {
        __m256i whole[2][HEADSTART_AT_ONCE];
        const int8_t * numbers[HEADSTART_AT_ONCE];
        for (int r = 0; r < count; ++r) {
            const headstart_x32 * from = (const headstart_x32 *)x[r] + block;
            numbers[r] = from->q;
            const __m256i start = _mm256_set1_epi32(-headstart_tile_more(type) * from->sum);
            whole[0][r] = whole[1][r] = start;
        }
        headstart_sums(type, count, tile, block, numbers, ones, whole);
        for (int r = 0; r < count; ++r) {
            const headstart_x32 * from = (const headstart_x32 *)x[r] + block;
            const __m256 d = _mm256_set1_ps(from->d);
            for (int half = 0; half < 2; ++half) {
                total[half][r] = _mm256_fmadd_ps(_mm256_mul_ps(tile->d[block][half], d),
                                                 _mm256_cvtepi32_ps(whole[half][r]), total[half][r]);
                if (two) {
                    const __m256 sum = _mm256_set1_ps(from->d * (float)from->sum);
                    total[half][r] = _mm256_fmadd_ps(tile->m[block][half], sum, total[half][r]);
                }
            }
        }
    }
    for (int r = 0; r < count; ++r) {
        for (int half = 0; half < 2; ++half) {
            _mm256_storeu_ps(sums[r] + 8 * half, total[half][r]);
        }
    }
}

HEADSTART_TILE void headstart_meet_256(const int type, const int count, const headstart_tile * tile,
                                       const char * const x[], float * const sums[]) {
    const bool least = type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K;
    __m256i whole[2][HEADSTART_AT_ONCE], less[2][HEADSTART_AT_ONCE];
    for (int r = 0; r < count; ++r) {
        for (int half = 0; half < 2; ++half) {
            whole[half][r] = less[half][r] = _mm256_setzero_si256();
        }
    }
    for (int block = 0; block < 8; ++block) {
        const int8_t * numbers[HEADSTART_AT_ONCE];
        __m256i scale[2][2];
        for (int half = 0; half < 2; ++half) {
            scale[0][half] = tile->scale[type == HEADSTART_T_Q6_K ? 2 * block : block][half];
            scale[1][half] = tile->scale[type == HEADSTART_T_Q6_K ? 2 * block + 1 : block][half];
        }
        for (int r = 0; r < count; ++r) {
            numbers[r] = ((const headstart_x256 *)x[r])->q + 32 * block;
        }
        headstart_sums(type, count, tile, block, numbers, scale, whole);
    }
    for (int r = 0; r < count; ++r) {
        const headstart_x256 * from = (const headstart_x256 *)x[r];
        const __m256 d = _mm256_set1_ps(from->d);
        for (int i = 0; i < (least ? 4 : type == HEADSTART_T_Q6_K ? 8 : 0); ++i) {
            const __m256i both = headstart_every(least ? from->twice + 2 * i : from->sums + 2 * i);
            for (int half = 0; half < 2; ++half) {
                less[half][r] = _mm256_add_epi32(less[half][r], _mm256_madd_epi16(tile->least[i][half], both));
            }
        }
        for (int half = 0; half < 2; ++half) {
            if (type == HEADSTART_T_Q6_K) {
                /* 32 was added to each number */
                whole[half][r] = _mm256_sub_epi32(whole[half][r], _mm256_slli_epi32(less[half][r], 5));
            }
            __m256 sum = _mm256_mul_ps(tile->d[0][half], _mm256_cvtepi32_ps(whole[half][r]));
            if (least) {
                sum = _mm256_fnmadd_ps(tile->m[0][half], _mm256_cvtepi32_ps(less[half][r]), sum);
            }
            _mm256_storeu_ps(sums[r] + 8 * half, _mm256_fmadd_ps(d, sum, _mm256_loadu_ps(sums[r] + 8 * half)));
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

HEADSTART_TILE size_t headstart_x_size(const int type, int64_t numbers) {
    return headstart_tile_is_k(type) ? numbers / 256 * sizeof(headstart_x256) : numbers / 32 * sizeof(headstart_x32);
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
                        for (size_t line = 0; line < 8 * size; line += 64) {
                            _mm_prefetch(following + line, _MM_HINT_T0);
                        }
                        following += 8 * size;
                        if (headstart_tile_is_k(type)) {
                            headstart_unpack_256(type, from, &tile, half);
                        } else {
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
                    if (count == 1) {
                        headstart_meet(type, 1, blocks, &tile, from, into);
                    } else {
                        headstart_meet(type, 2, blocks, &tile, from, into);
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

/* --- a few rows of numbers: four rows of weights meet them as they are unpacked --- */

#define HEADSTART_FEW 4

/* The sums of four registers, in one. */
HEADSTART_TILE __m128i headstart_four(__m256i a, __m256i b, __m256i c, __m256i d) {
    const __m256i both = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

/* Four bytes of each of four rows. */
HEADSTART_TILE __m128i headstart_four_words(const uint8_t * row, size_t lda) {
    return _mm_setr_epi32(headstart_word(row), headstart_word(row + lda), headstart_word(row + 2 * lda),
                          headstart_word(row + 3 * lda));
}

HEADSTART_TILE __m128 headstart_four_halves(__m128i words) {
    return _mm256_castps256_ps128(headstart_halves(_mm256_castsi128_si256(words)));
}

/* The 32 numbers of a block, as they are in a tile. */
HEADSTART_TILE __m256i headstart_block_of(const int type, const uint8_t * block) {
    if (type == HEADSTART_T_Q8_0) {
        return _mm256_loadu_si256((const __m256i *)(block + 2));
    }
    const bool five = type == HEADSTART_T_Q5_0 || type == HEADSTART_T_Q5_1;
    const size_t size = headstart_tile_block(type);
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(block + size - 16));
    __m256i q = headstart_and(
        _mm256_inserti128_si256(_mm256_castsi128_si256(bytes), _mm_srli_epi16(bytes, 4), 1), 15);
    if (five) {
        const __m256i spread = _mm256_shuffle_epi8(
            headstart_every(block + size - 20),
            _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0));
        const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201ull);
        q = _mm256_or_si256(q, headstart_and(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bits), bits), 16));
    }
    return type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_MXFP4 ? headstart_look(type, q) : q;
}

HEADSTART_TILE void headstart_few_32(const int type, const int count, const uint8_t * row, size_t lda,
                                     const char * const x[], __m128 total[]) {
    const bool has_sign = headstart_tile_has_sign(type);
    __m256i sums[HEADSTART_FEW][4];
    for (int w = 0; w < 4; ++w) {
        const __m256i q = headstart_block_of(type, row + w * lda);
        const __m256i size = has_sign ? _mm256_sign_epi8(q, q) : q;
        for (int r = 0; r < count; ++r) {
            const __m256i numbers = _mm256_loadu_si256((const __m256i *)((const headstart_x32 *)x[r])->q);
            sums[r][w] = _mm256_madd_epi16(headstart_products(has_sign, q, size, numbers), _mm256_set1_epi16(1));
        }
    }
    __m256 d, m;
    headstart_scales_32(type, _mm256_castsi128_si256(headstart_four_words(row, lda)), &d, &m);
    for (int r = 0; r < count; ++r) {
        const __m128i whole = _mm_add_epi32(headstart_four(sums[r][0], sums[r][1], sums[r][2], sums[r][3]),
                                            _mm_set1_epi32(-headstart_tile_more(type) * ((const headstart_x32 *)x[r])->sum));
        total[r] = _mm_fmadd_ps(_mm_mul_ps(_mm256_castps256_ps128(d), _mm_set1_ps(((const headstart_x32 *)x[r])->d)),
                                _mm_cvtepi32_ps(whole), total[r]);
        if (type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1) {
            const __m128 sum = _mm_set1_ps(((const headstart_x32 *)x[r])->d * (float)((const headstart_x32 *)x[r])->sum);
            total[r] = _mm_fmadd_ps(_mm256_castps256_ps128(m), sum, total[r]);
        }
    }
}

/* Eight scales of 6 bits and eight minima of Q4_K and Q5_K, a byte each. */
HEADSTART_TILE void headstart_scales_of(const uint8_t * at, uint64_t * scales, uint64_t * least) {
    uint64_t first;
    uint32_t last;
    memcpy(&first, at, 8);
    memcpy(&last, at + 8, 4);
    const uint64_t low = first & 0x3f3f3f3f3f3f3f3full, two = 0x30303030u;
    const uint64_t high_scales = (last & 0x0f0f0f0fu) | ((first >> 2) & two);
    const uint64_t high_least = ((last >> 4) & 0x0f0f0f0fu) | ((first >> 34) & two);
    *scales = (low & 0xffffffffu) | high_scales << 32;
    *least = low >> 32 | high_least << 32;
}

/* 32 numbers of a row of weights by `count` rows. */
HEADSTART_TILE void headstart_few_add(const int type, const int count, __m256i q, __m256i scale, int block,
                                      const char * const x[], __m256i sums[]) {
    const bool has_sign = headstart_tile_has_sign(type);
    const __m256i size = has_sign ? _mm256_sign_epi8(q, q) : q;
    for (int r = 0; r < count; ++r) {
        const __m256i numbers = _mm256_loadu_si256((const __m256i *)(((const headstart_x256 *)x[r])->q + 32 * block));
        sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(headstart_products(has_sign, q, size, numbers), scale));
    }
}

/* A block of a row of weights by `count` rows: whole sums, and those of the minima. */
HEADSTART_TILE void headstart_few_row(const int type, const int count, const uint8_t * row,
                                      const char * const x[], __m256i sums[], __m128i less[]) {
    for (int r = 0; r < count; ++r) {
        sums[r] = _mm256_setzero_si256();
        less[r] = _mm_setzero_si128();
    }
    if (type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K) {
        const bool five = type == HEADSTART_T_Q5_K;
        uint64_t scales, least;
        int32_t pairs[8];
        headstart_scales_of(row + 4, &scales, &least);
        const __m256i wide = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)scales));
        _mm256_storeu_si256((__m256i *)pairs, _mm256_or_si256(wide, _mm256_slli_epi32(wide, 16)));
        const __m128i lowest = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)least));
        for (int r = 0; r < count; ++r) {
            less[r] = _mm_madd_epi16(lowest, _mm_loadu_si128((const __m128i *)((const headstart_x256 *)x[r])->twice));
        }
        const __m256i fifth = _mm256_loadu_si256((const __m256i *)(row + 16));
        for (int j = 0; j < 4; ++j) {
            const __m256i bytes = _mm256_loadu_si256((const __m256i *)(row + (five ? 48 : 16) + 32 * j));
            __m256i low = headstart_and(bytes, 15), high = headstart_and(_mm256_srli_epi16(bytes, 4), 15);
            if (five) {
                low = _mm256_or_si256(low, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth, 2 * j), 1), 4));
                high = _mm256_or_si256(high, _mm256_slli_epi16(headstart_and(_mm256_srli_epi16(fifth, 2 * j + 1), 1), 4));
            }
            headstart_few_add(type, count, low, _mm256_set1_epi32(pairs[2 * j]), 2 * j, x, sums);
            headstart_few_add(type, count, high, _mm256_set1_epi32(pairs[2 * j + 1]), 2 * j + 1, x, sums);
        }
    } else if (type == HEADSTART_T_Q6_K) {
        const __m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + 192)));
        const __m256i pairs[2] = {_mm256_permute4x64_epi64(scales, 0x44), _mm256_permute4x64_epi64(scales, 0xee)};
        for (int r = 0; r < count; ++r) {
            /* 32 was added to each number */
            const __m256i more = _mm256_madd_epi16(scales, _mm256_loadu_si256((const __m256i *)((const headstart_x256 *)x[r])->sums));
            sums[r] = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(more, 5));
        }
        for (int big = 0; big < 2; ++big) {
            const __m256i more = _mm256_loadu_si256((const __m256i *)(row + 128 + 32 * big));
            const __m256i a = _mm256_loadu_si256((const __m256i *)(row + 64 * big));
            const __m256i b = _mm256_loadu_si256((const __m256i *)(row + 64 * big + 32));
            const __m256i low[4] = {a, b, _mm256_srli_epi16(a, 4), _mm256_srli_epi16(b, 4)};
            const __m256i high[4] = {_mm256_slli_epi16(more, 4), _mm256_slli_epi16(more, 2), more,
                                     _mm256_srli_epi16(more, 2)};
            for (int j = 0; j < 4; ++j) {
                const __m256i q = _mm256_or_si256(headstart_and(low[j], 15), headstart_and(high[j], 0x30));
                /* the scale of the first 16 numbers in the lower half, of the others in the upper */
                const __m256i at = _mm256_inserti128_si256(_mm256_set1_epi16((short)(j * 0x404 + 0x100)),
                                                           _mm_set1_epi16((short)(j * 0x404 + 0x302)), 1);
                headstart_few_add(type, count, q, _mm256_shuffle_epi8(pairs[big], at), 4 * big + j, x, sums);
            }
        }
    } else {
        const uint32_t upper = (uint32_t)headstart_word(row) >> 16, lower = (uint32_t)headstart_word(row + 4);
        for (int i = 0; i < 8; ++i) {
            const int scale = (int)((lower >> 4 * i & 15) | (upper >> 2 * i & 3) << 4) - 32;
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(row + 8 + 16 * i));
            const __m256i q = headstart_look(type, headstart_and(
                _mm256_inserti128_si256(_mm256_castsi128_si256(bytes), _mm_srli_epi16(bytes, 4), 1), 15));
            headstart_few_add(type, count, q, _mm256_set1_epi16((short)scale), i, x, sums);
        }
    }
}

HEADSTART_TILE void headstart_few_256(const int type, const int count, const uint8_t * row, size_t lda,
                                      const char * const x[], __m128 total[]) {
    const bool has_least = type == HEADSTART_T_Q4_K || type == HEADSTART_T_Q5_K;
    __m256i sums[4][HEADSTART_FEW];
    __m128i less[4][HEADSTART_FEW];
    for (int w = 0; w < 4; ++w) {
        headstart_few_row(type, count, row + w * lda, x, sums[w], less[w]);
    }
    const __m128i heads = type == HEADSTART_T_Q6_K ? _mm_srli_epi32(headstart_four_words(row + 206, lda), 16)
                                                   : headstart_four_words(row, lda);
    const __m128 d = headstart_four_halves(heads), m = headstart_four_halves(_mm_srli_epi32(heads, 16));
    for (int r = 0; r < count; ++r) {
        const __m128i whole = headstart_four(sums[0][r], sums[1][r], sums[2][r], sums[3][r]);
        __m128 sum = _mm_mul_ps(d, _mm_cvtepi32_ps(whole));
        if (has_least) {
            const __m128i lowest = _mm_hadd_epi32(_mm_hadd_epi32(less[0][r], less[1][r]),
                                                  _mm_hadd_epi32(less[2][r], less[3][r]));
            sum = _mm_fnmadd_ps(m, _mm_cvtepi32_ps(lowest), sum);
        }
        total[r] = _mm_fmadd_ps(_mm_set1_ps(((const headstart_x256 *)x[r])->d), sum, total[r]);
    }
}

/* Four rows of weights, `lda` bytes apart, by `count` rows. */
HEADSTART_TILE void headstart_few(const int type, const int count, int64_t blocks, const char * a, size_t lda,
                                  const char * next, const char * const * x, __m128 total[]) {
    const size_t size = headstart_tile_block(type);
    for (int r = 0; r < count; ++r) {
        total[r] = _mm_setzero_ps();
    }
    for (int64_t k = 0; k < blocks; ++k) {
        for (size_t line = 0; line + 32 <= 4 * size; line += 64) {
            _mm_prefetch(next + line, _MM_HINT_T0);
        }
        next += 4 * size;
        const char * from[HEADSTART_FEW];
        for (int r = 0; r < count; ++r) {
            from[r] = x[r] + headstart_x_size(type, headstart_tile_is_k(type) ? 256 : 32) * k;
        }
        const uint8_t * row = (const uint8_t *)a + k * size;
        if (headstart_tile_is_k(type)) {
            headstart_few_256(type, count, row, lda, from, total);
        } else {
            headstart_few_32(type, count, row, lda, from, total);
        }
    }
}

HEADSTART_TILE void headstart_multiply_few(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                           const char * a, size_t lda, const char * const * x,
                                           float * const * to, const char * then) {
    const int64_t blocks = numbers / (headstart_tile_is_k(type) ? 256 : 32);
    for (int64_t at = begin; at < end; at += 4) {
        /* the last rows once more where there are not four */
        const int64_t row = at + 4 <= end || end - begin < 4 ? at : end - 4;
        const size_t apart = end - begin < 4 ? 0 : lda;
        const char * next = at + 4 < end ? a + (at + 4) * lda : then;
        const char * weights = a + row * lda;
        const int64_t rounds = (n + HEADSTART_FEW - 1) / HEADSTART_FEW;
        for (int64_t round = 0; round < rounds; ++round) {
            const int64_t first = n * round / rounds, count = n * (round + 1) / rounds - first;
            const char * const * from = x + first;
            __m128 total[HEADSTART_FEW];
            switch (count) {
            case 1: headstart_few(type, 1, blocks, weights, apart, next, from, total); break;
            case 2: headstart_few(type, 2, blocks, weights, apart, next, from, total); break;
            case 3: headstart_few(type, 3, blocks, weights, apart, next, from, total); break;
            default: headstart_few(type, 4, blocks, weights, apart, next, from, total);
            }
            for (int64_t r = 0; r < count; ++r) {
                float sums[4];
                _mm_storeu_ps(sums, total[r]);
                memcpy(to[first + r] + row, sums, apart ? sizeof(sums) : sizeof(*sums));
            }
        }
        if (!apart) {
            at -= 3;
        }
    }
}

/* Rows up to which that is faster than a tile. Measured on a Zen 3 with two threads. */
HEADSTART_TILE int headstart_few_of(const int type) {
    switch (type) {
    case HEADSTART_T_MXFP4: return 0;
    case HEADSTART_T_Q4_0: case HEADSTART_T_Q4_1: case HEADSTART_T_Q5_0: case HEADSTART_T_Q5_1: return 1;
    case HEADSTART_T_Q8_0: case HEADSTART_T_Q6_K: return 8;
    default: return 3;
    }
}

/* --- weights in half precision, bfloat16 and single precision: rows of numbers as they are ---
 *
 * A sum has eight chains of single precision, of every eighth number each, rounded once a number. */

#define HEADSTART_FLOATS 256

HEADSTART_TILE size_t headstart_float_size(const int type) {
    return type == HEADSTART_T_F32 ? 4 : 2;
}

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
        }
        for (int w = 0; w < 4; ++w) {
            const __m256 weights = headstart_float(type, a + w * lda + k * headstart_float_size(type));
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

HEADSTART_TILE void headstart_float_rows(const int type, int64_t n, int64_t numbers, const char * a, size_t lda,
                                         const char * const * x, int64_t first, __m256 (* sums)[4]) {
    for (int64_t row = 0; row < n;) {
        /* four are two and two, and not three and one */
        const int64_t rest = n - row, count = rest == 4 || rest == 2 ? 2 : rest < 3 ? rest : 3;
        const float * from[3];
        for (int64_t r = 0; r < count; ++r) {
            from[r] = (const float *)x[row + r] + first;
        }
        switch (count) {
        case 1: headstart_float_add(type, 1, numbers, a, lda, from, sums + row); break;
        case 2: headstart_float_add(type, 2, numbers, a, lda, from, sums + row); break;
        default: headstart_float_add(type, 3, numbers, a, lda, from, sums + row);
        }
        row += count;
    }
}

/* The sums of four registers, in one. */
HEADSTART_TILE __m128 headstart_four_lanes(const __m256 x[4]) {
    const __m256 both = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    return _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
}

HEADSTART_TILE void headstart_multiply_floats(const int type, int64_t begin, int64_t end, int64_t n, int64_t numbers,
                                              const char * a, size_t lda, const char * const * x,
                                              float * const * to, const char * then) {
    const size_t size = headstart_float_size(type);
    float wide[4][HEADSTART_FLOATS];
    for (int64_t pass = 0; pass < n; pass += HEADSTART_PASS) {
        const int64_t rows = n - pass < HEADSTART_PASS ? n - pass : HEADSTART_PASS;
        /* few rows wait for memory: what comes next is asked for little by little */
        const int64_t part = rows <= 4 ? HEADSTART_FLOATS / 4 : HEADSTART_FLOATS;
        __m256 sums[HEADSTART_PASS][4];
        for (int64_t at = begin; at < end; at += 4) {
            /* the last rows once more where there are not four */
            const int64_t row = at + 4 <= end || end - begin < 4 ? at : end - 4;
            const int there = end - begin < 4 ? 1 : 4;
            const size_t apart = there == 4 ? lda : 0;
            const char * next = at + 4 < end ? a + (at + 4) * lda : then;
            memset(sums, 0, rows * sizeof(*sums));
            for (int64_t k = 0; k < numbers; k += part) {
                const int64_t some = numbers - k < part ? numbers - k : part;
                const char * from = a + row * lda + k * size;
                for (int64_t line = 0; line < 4 * some * (int64_t)size; line += 64) {
                    _mm_prefetch(next + line, _MM_HINT_T0);
                }
                next += 4 * some * size;
                if (rows <= 4 || type == HEADSTART_T_F32) {
                    headstart_float_rows(type, rows, some, from, apart, x + pass, k, sums);
                    continue;
                }
                for (int w = 0; w < 4; ++w) {
                    for (int64_t i = 0; i < some; i += 8) {
                        _mm256_storeu_ps(wide[w] + i, headstart_float(type, from + w * apart + i * size));
                    }
                }
                headstart_float_rows(HEADSTART_T_F32, rows, some, (const char *)wide, sizeof(*wide), x + pass, k, sums);
            }
            for (int64_t r = 0; r < rows; ++r) {
                float four[4];
                _mm_storeu_ps(four, headstart_four_lanes(sums[r]));
                memcpy(to[pass + r] + row, four, there * sizeof(float));
            }
            if (there == 1) {
                at -= 3;
            }
        }
    }
}

#define HEADSTART_TILES_OF(name, type) \
    static __attribute__((noinline)) void headstart_tiles_##name( \
        int64_t begin, int64_t end, int64_t n, int64_t numbers, const char * a, size_t lda, \
        const char * const * x, float * const * to, const char * then) { \
        if (n <= headstart_few_of(type)) { \
            headstart_multiply_few(type, begin, end, n, numbers, a, lda, x, to, then); \
        } else { \
            headstart_multiply_tiles(type, begin, end, n, numbers, a, lda, x, to, then); \
        } \
    }
HEADSTART_TILES_OF(q4_0, HEADSTART_T_Q4_0)
HEADSTART_TILES_OF(q4_1, HEADSTART_T_Q4_1)
HEADSTART_TILES_OF(q5_0, HEADSTART_T_Q5_0)
HEADSTART_TILES_OF(q5_1, HEADSTART_T_Q5_1)
HEADSTART_TILES_OF(q8_0, HEADSTART_T_Q8_0)
HEADSTART_TILES_OF(q4_K, HEADSTART_T_Q4_K)
HEADSTART_TILES_OF(q5_K, HEADSTART_T_Q5_K)
HEADSTART_TILES_OF(q6_K, HEADSTART_T_Q6_K)
HEADSTART_TILES_OF(iq4_nl, HEADSTART_T_IQ4_NL)
HEADSTART_TILES_OF(iq4_xs, HEADSTART_T_IQ4_XS)
HEADSTART_TILES_OF(mxfp4, HEADSTART_T_MXFP4)

#define HEADSTART_FLOATS_OF(name, type) \
    static __attribute__((noinline)) void headstart_floats_##name( \
        int64_t begin, int64_t end, int64_t n, int64_t numbers, const char * a, size_t lda, \
        const char * const * x, float * const * to, const char * then) { \
        headstart_multiply_floats(type, begin, end, n, numbers, a, lda, x, to, then); \
    }
HEADSTART_FLOATS_OF(f32, HEADSTART_T_F32)
HEADSTART_FLOATS_OF(f16, HEADSTART_T_F16)
HEADSTART_FLOATS_OF(bf16, HEADSTART_T_BF16)

typedef void headstart_tiles_function(int64_t, int64_t, int64_t, int64_t, const char *, size_t,
                                      const char * const *, float * const *, const char *);

/* Whether rows of numbers stay in single precision. */
static inline bool headstart_is_float(int type) {
    return type == HEADSTART_T_F32 || type == HEADSTART_T_F16 || type == HEADSTART_T_BF16;
}

/* NULL for weights that are not multiplied here. */
static inline headstart_tiles_function * headstart_tiles_for(int type) {
    switch (type) {
    case HEADSTART_T_F32: return headstart_floats_f32;
    case HEADSTART_T_F16: return headstart_floats_f16;
    case HEADSTART_T_BF16: return headstart_floats_bf16;
    case HEADSTART_T_Q4_0: return headstart_tiles_q4_0;
    case HEADSTART_T_Q4_1: return headstart_tiles_q4_1;
    case HEADSTART_T_Q5_0: return headstart_tiles_q5_0;
    case HEADSTART_T_Q5_1: return headstart_tiles_q5_1;
    case HEADSTART_T_Q8_0: return headstart_tiles_q8_0;
    case HEADSTART_T_Q4_K: return headstart_tiles_q4_K;
    case HEADSTART_T_Q5_K: return headstart_tiles_q5_K;
    case HEADSTART_T_Q6_K: return headstart_tiles_q6_K;
    case HEADSTART_T_IQ4_NL: return headstart_tiles_iq4_nl;
    case HEADSTART_T_IQ4_XS: return headstart_tiles_iq4_xs;
    case HEADSTART_T_MXFP4: return headstart_tiles_mxfp4;
    default: return NULL;
    }
}

/* 32 numbers in 8 bits: their largest is 127. Writes q, and gives the scale. */
HEADSTART_TILE float headstart_round(const float * from, float most, int8_t * q) {
    const __m256 times = _mm256_set1_ps(most > 0 ? 127.0f / most : 0.0f);
    __m256i part[4];
    for (int i = 0; i < 4; ++i) {
        part[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from + 8 * i), times));
    }
    const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(part[0], part[1]), _mm256_packs_epi32(part[2], part[3]));
    _mm256_storeu_si256((__m256i *)q, _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    return most / 127.0f;
}

HEADSTART_TILE float headstart_most(const float * from, int count) {
    const __m256 positive = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    __m256 most = _mm256_setzero_ps();
    for (int i = 0; i < count; i += 8) {
        most = _mm256_max_ps(_mm256_and_ps(_mm256_loadu_ps(from + i), positive), most);
    }
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

/* The sums of 16 and 16 numbers. */
HEADSTART_TILE void headstart_add_up(const int8_t * q, int32_t sums[2]) {
    const __m256i x = _mm256_loadu_si256((const __m256i *)q);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), x);
    __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    fours = _mm256_hadd_epi32(fours, fours);
    fours = _mm256_hadd_epi32(fours, fours);
    sums[0] = _mm256_extract_epi32(fours, 0);
    sums[1] = _mm256_extract_epi32(fours, 4);
}

/* Part of a row in 8 bits, whole blocks of it. */
static inline void headstart_make_x(int type, const float * from, int64_t numbers, char * to) {
    if (headstart_tile_is_k(type)) {
        headstart_x256 * x = (headstart_x256 *)to;
        for (int64_t k = 0; k < numbers; k += 256, ++x) {
            const float most = headstart_most(from + k, 256);
            for (int i = 0; i < 8; ++i) {
                int32_t sums[2];
                x->d = headstart_round(from + k + 32 * i, most, x->q + 32 * i);
                headstart_add_up(x->q + 32 * i, sums);
                x->sums[2 * i] = (int16_t)sums[0];
                x->sums[2 * i + 1] = (int16_t)sums[1];
                x->twice[i] = (int16_t)(sums[0] + sums[1]);
            }
        }
        return;
    }
    headstart_x32 * x = (headstart_x32 *)to;
    for (int64_t k = 0; k < numbers; k += 32, ++x) {
        int32_t sums[2];
        x->d = headstart_round(from + k, headstart_most(from + k, 32), x->q);
        headstart_add_up(x->q, sums);
        x->sum = sums[0] + sums[1];
    }
}
#endif
