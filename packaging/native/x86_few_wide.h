/* The inner parts of x86_few.h for registers of 512 bits: 64 numbers of a row of weights at a time, or a
 * block of 32 of four rows.
 */
#pragma once
#include "x86_formats.h"
#ifdef HEADSTART_WIDE

/* Words of 16 bits of a register by number: `first` in the first 8, the next one in the next 8 or 16. */
HEADSTART_TILE __m512i headstart_spread_words(__m256i words, const int first, const int times) {
    const __m512i each = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    const __m512i some = times == 8 ? each : _mm512_srli_epi32(each, 1);
    const __m512i at = _mm512_add_epi32(some, _mm512_set1_epi32(first));
    return _mm512_permutexvar_epi16(_mm512_or_si512(at, _mm512_slli_epi32(at, 16)), _mm512_castsi256_si512(words));
}

HEADSTART_TILE __m512i headstart_twice(__m256i a, __m256i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

/* 64 numbers of a row of weights by `count` rows. */
HEADSTART_TILE void headstart_wide_add(const int count, __m512i q, __m512i scale, int first, const char * const x[],
                                       __m512i sums[]) {
    for (int r = 0; r < count; ++r) {
        const __m512i numbers = _mm512_loadu_si512(((const headstart_x256 *)x[r])->q + first);
        sums[r] = _mm512_dpwssd_epi32(sums[r], _mm512_maddubs_epi16(q, numbers), scale);
    }
}

/* A block of Q4_K or Q5_K. */
HEADSTART_TILE void headstart_wide_q4_k(const int type, const int count, const uint8_t * row, __m256i scales,
                                        const char * const x[], __m512i sums[]) {
    const bool five = type == HEADSTART_T_Q5_K;
    const __m256i fifth = _mm256_loadu_si256((const __m256i *)(row + 16));
    const __m512i both = headstart_twice(fifth, _mm256_srli_epi16(fifth, 1));
    const __m512i bit = _mm512_set1_epi8(16), nibble = _mm512_set1_epi8(15);
    for (int j = 0; j < 4; ++j) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(row + (five ? 48 : 16) + 32 * j));
        __m512i q = _mm512_and_si512(headstart_twice(bytes, _mm256_srli_epi16(bytes, 4)), nibble);
        if (five) {
            const __m512i moved = j == 3 ? _mm512_srli_epi16(both, 2) : _mm512_slli_epi16(both, 4 - 2 * j);
            /* q | (moved & bit) */
            q = _mm512_ternarylogic_epi32(q, moved, bit, 0xf8);
        }
        headstart_wide_add(count, q, headstart_spread_words(scales, 2 * j, 16), 64 * j, x, sums);
    }
}

/* A block of Q6_K. */
HEADSTART_TILE void headstart_wide_q6_k(const int count, const uint8_t * row, __m256i scales, const char * const x[],
                                        __m512i sums[]) {
    const __m512i left = headstart_twice(_mm256_set1_epi16(4), _mm256_set1_epi16(2));
    const __m512i right = headstart_twice(_mm256_setzero_si256(), _mm256_set1_epi16(2));
    const __m512i nibble = _mm512_set1_epi8(15), upper = _mm512_set1_epi8(0x30);
    for (int big = 0; big < 2; ++big) {
        const __m512i more = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(row + 128 + 32 * big)));
        const __m512i bytes = _mm512_loadu_si512(row + 64 * big);
        const __m512i low = _mm512_and_si512(bytes, nibble), high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble);
        headstart_wide_add(count, _mm512_ternarylogic_epi32(low, _mm512_sllv_epi16(more, left), upper, 0xf8),
                           headstart_spread_words(scales, 8 * big, 8), 128 * big, x, sums);
        headstart_wide_add(count, _mm512_ternarylogic_epi32(high, _mm512_srlv_epi16(more, right), upper, 0xf8),
                           headstart_spread_words(scales, 8 * big + 4, 8), 128 * big + 64, x, sums);
    }
}

/* Adds the products of a block of Q4_K, Q5_K or Q6_K times their scales, which are given with 16 bits each. */
HEADSTART_TILE void headstart_wide_scaled(const int type, const int count, const uint8_t * row, __m256i scales,
                                          const char * const x[], __m256i sums[]) {
    __m512i all[4];
    for (int r = 0; r < count; ++r) {
        all[r] = _mm512_zextsi256_si512(sums[r]);
    }
    if (type == HEADSTART_T_Q6_K) {
        headstart_wide_q6_k(count, row, scales, x, all);
    } else {
        headstart_wide_q4_k(type, count, row, scales, x, all);
    }
    for (int r = 0; r < count; ++r) {
        sums[r] = _mm256_add_epi32(_mm512_castsi512_si256(all[r]), _mm512_extracti64x4_epi64(all[r], 1));
    }
}

/* 16 bytes of each of four rows. */
HEADSTART_TILE __m512i headstart_lanes_of(const uint8_t * row, size_t lda) {
    const __m128i * a = (const __m128i *)row, * b = (const __m128i *)(row + lda);
    const __m128i * c = (const __m128i *)(row + 2 * lda), * d = (const __m128i *)(row + 3 * lda);
    __m512i x = _mm512_castsi128_si512(_mm_loadu_si128(a));
    x = _mm512_mask_broadcast_i32x4(x, 0x00f0, _mm_loadu_si128(b));
    x = _mm512_mask_broadcast_i32x4(x, 0x0f00, _mm_loadu_si128(c));
    return _mm512_mask_broadcast_i32x4(x, 0xf000, _mm_loadu_si128(d));
}

/* The 32 numbers of a block of four rows, as they are in a tile: the first 16 of each, and the others. */
HEADSTART_TILE void headstart_wide_blocks(const int type, const uint8_t * row, size_t lda, __m512i q[2]) {
    const size_t size = headstart_tile_block(type);
    q[1] = headstart_lanes_of(row + size - 16, lda);
    if (type == HEADSTART_T_Q8_0) {
        const __m512i more = _mm512_set1_epi8((char)0x80);
        q[0] = _mm512_xor_si512(headstart_lanes_of(row + size - 32, lda), more);
        q[1] = _mm512_xor_si512(q[1], more);
        return;
    }
    const __m512i nibble = _mm512_set1_epi8(15);
    q[0] = _mm512_and_si512(q[1], nibble);
    q[1] = _mm512_and_si512(_mm512_srli_epi16(q[1], 4), nibble);
    if (type == HEADSTART_T_Q5_0 || type == HEADSTART_T_Q5_1) {
        /* bit i of a row's word is the fifth of number i */
        uint64_t bits[4];
        for (int w = 0; w < 4; ++w) {
            bits[w] = (uint32_t)headstart_word(row + w * lda + size - 20);
        }
        const __m512i fifth = _mm512_set1_epi8(16);
        for (int i = 0; i < 2; ++i) {
            uint64_t mask = 0;
            for (int w = 0; w < 4; ++w) {
                mask |= (bits[w] >> 16 * i & 0xffff) << 16 * w;
            }
            q[i] = _mm512_mask_add_epi8(q[i], mask, q[i], fifth);
        }
    }
    if (type == HEADSTART_T_IQ4_NL || type == HEADSTART_T_MXFP4) {
        const __m512i values = _mm512_broadcast_i64x4(headstart_values_of(type, headstart_tile_more(type)));
        q[0] = _mm512_shuffle_epi8(values, q[0]);
        q[1] = _mm512_shuffle_epi8(values, q[1]);
    }
}

/* In each lane the sums of up to four registers' lanes; of one register, four times. */
HEADSTART_TILE __m512i headstart_lane_sums(const int count, const __m512i x[]) {
    if (count == 1) {
        const __m512i two = _mm512_add_epi32(x[0], _mm512_shuffle_epi32(x[0], 0x4e));
        return _mm512_add_epi32(two, _mm512_shuffle_epi32(two, 0xb1));
    }
    const __m512i c = x[count > 2 ? 2 : 0], d = x[count > 3 ? 3 : count > 2 ? 2 : 1];
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(x[0], x[1]), _mm512_unpackhi_epi32(x[0], x[1]));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

/* Each of four numbers in all of a lane, and all of them in each lane. */
HEADSTART_TILE __m512 headstart_by_lane(__m128 x) {
    const __m512i at = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return _mm512_permutexvar_ps(at, _mm512_castps128_ps512(x));
}

/* A block of 32 of four rows of weights by `count` rows: a lane for each row of weights, with a number
 * for each of the others. */
HEADSTART_TILE void headstart_wide_32(const int type, const int count, const uint8_t * row, size_t lda, __m128i words,
                                      const char * const x[], __m512 * total) {
    __m512i q[2], sums[4];
    headstart_wide_blocks(type, row, lda, q);
    __m512 d = _mm512_setzero_ps();
    __m512i sum = _mm512_setzero_si512();
    for (int r = 0; r < count; ++r) {
        const headstart_x32 * from = (const headstart_x32 *)x[r];
        const __m512i low = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)from->q));
        const __m512i high = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)from->q + 1));
        sums[r] = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), q[0], low), q[1], high);
        /* number r of each lane; of one row, all of them */
        const __mmask16 own = count == 1 ? 0xffff : (__mmask16)(0x1111 << r);
        d = _mm512_mask_broadcastss_ps(d, own, _mm_load_ss(&from->d));
        sum = _mm512_mask_broadcastd_epi32(sum, own, _mm_cvtsi32_si128(from->sum));
    }
    __m512i whole = headstart_lane_sums(count, sums);
    if (headstart_tile_more(type)) {
        whole = _mm512_sub_epi32(whole, _mm512_mullo_epi32(sum, _mm512_set1_epi32(headstart_tile_more(type))));
    }
    __m256 scale, least;
    headstart_scales_32(type, _mm256_castsi128_si256(words), &scale, &least);
    *total = _mm512_fmadd_ps(_mm512_mul_ps(headstart_by_lane(_mm256_castps256_ps128(scale)), d),
                             _mm512_cvtepi32_ps(whole), *total);
    if (type == HEADSTART_T_Q4_1 || type == HEADSTART_T_Q5_1) {
        *total = _mm512_fmadd_ps(headstart_by_lane(_mm256_castps256_ps128(least)),
                                 _mm512_mul_ps(d, _mm512_cvtepi32_ps(sum)), *total);
    }
}

/* Number r of each lane, for each of `count` rows. */
HEADSTART_TILE void headstart_columns(const int count, __m512 all, __m128 total[]) {
    __m128 a = _mm512_castps512_ps128(all), b = _mm512_extractf32x4_ps(all, 1);
    __m128 c = _mm512_extractf32x4_ps(all, 2), d = _mm512_extractf32x4_ps(all, 3);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    const __m128 columns[4] = {a, b, c, d};
    for (int r = 0; r < count; ++r) {
        total[r] = columns[r];
    }
}
#endif
