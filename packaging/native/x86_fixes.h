/* Three corrections for x86, put in front of every file when the set-up compiles llama.cpp.
 * They change nothing on other CPUs.
 *
 * 1. AMX is not used: what is put in its place is faster, except for one row of a model that lies in the
 *    processor's cache, has the same bits for one row and for many, and needs no second arrangement of
 *    the weights in memory. (Compiled with GCC 12, llama.cpp's kernels for AMX crash.)
 *
 * 2. With AVX512-FP16 ggml handles half precision in steps of 128 numbers, and what is shorter
 *    one by one. Without that instruction set the steps are 64, and sums are kept in single precision.
 *
 * 3. Products of weights and attention, with AVX2: see x86_products.h.
 */
#pragma once
#if defined(__x86_64__) && defined(__GNUC__)
#undef __AVX512FP16__
#undef __AMX_INT8__
#include "x86_products.h"
#endif
