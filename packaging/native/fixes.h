/* What is put in front of every file when the set-up compiles llama.cpp. */
#pragma once
#include "mapped.h"
#include "x86_fixes.h"
