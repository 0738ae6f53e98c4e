/* What is put in front of every file when the set-up compiles llama.cpp. */
#pragma once
#include "mapped.h"
#include "x86_fixes.h"

/* Raised whenever kernels make other bits: what earlier ones computed is not gone on with. */
#define HEADSTART_KERNELS 3
#if defined(__cplusplus) && defined(LLAMA_BUILD) && defined(__GNUC__)
extern "C" inline __attribute__((used, visibility("default"))) int headstart_kernels(void) {
    return HEADSTART_KERNELS;
}
#endif
