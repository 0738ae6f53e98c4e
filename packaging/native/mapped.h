/* Files that llama.cpp has mapped, and that change under it: on a file that was cut, or on a disk
 * that was pulled out, reading a page ends the program with SIGBUS (on macOS also SIGSEGV).
 *
 * Here the pages of such a file become zeros, and a counter says so: the reply that was being
 * computed is then thrown away by who asked for it. All else goes to the handler that was there
 * before. Whatever maps a file to read it is noted: in libllama (`LLAMA_BUILD`) mmap and munmap are
 * called through here.
 */
#pragma once
#if defined(__cplusplus) && defined(LLAMA_BUILD) && !defined(_WIN32)
#include <atomic>
#include <csignal>
#include <cstdint>
#include <sys/mman.h>
#include <sys/types.h>

#define HEADSTART_EXPORTED extern "C" inline __attribute__((used, visibility("default")))

struct headstart_mapping {
    std::atomic<uintptr_t> start{0}, end{0};
};
inline headstart_mapping headstart_mappings[256]{};
inline std::atomic<int> headstart_lost{0};
inline struct sigaction headstart_before[2];

inline void headstart_on_fault(int number, siginfo_t * info, void * context) {
    const uintptr_t at = (uintptr_t) info->si_addr;
    for (headstart_mapping & one : headstart_mappings) {
        const uintptr_t start = one.start.load(), end = one.end.load();
        if (start && at >= start && at < end) {
            void * zeros = mmap((void *) start, end - start, PROT_READ,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            if (zeros != MAP_FAILED) {
                headstart_lost.fetch_add(1);
                return;
            }
        }
    }
    struct sigaction * before = &headstart_before[number == SIGBUS ? 0 : 1];
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
        // the instruction is tried again, and ends the program as it would have
        sigaction(number, before, nullptr);
    } else {
        before->sa_handler(number);
    }
}

inline void * headstart_mmap(void * wanted, size_t size, int protection, int flags, int file,
                             off_t offset) {
    void * found = mmap(wanted, size, protection, flags, file, offset);
    if (found != MAP_FAILED && file >= 0) {
        for (headstart_mapping & one : headstart_mappings) {
            uintptr_t none = 0;
            if (one.start.compare_exchange_strong(none, (uintptr_t) found)) {
                one.end.store((uintptr_t) found + size);
                break;
            }
        }
    }
    return found;
}

inline int headstart_munmap(void * from, size_t size) {
    const uintptr_t first = (uintptr_t) from, last = first + size;
    for (headstart_mapping & one : headstart_mappings) {
        const uintptr_t start = one.start.load(), end = one.end.load();
        if (!start || last <= start || first >= end) {
            continue;
        }
        if (first <= start && last >= end) {
            one.end.store(0);
            one.start.store(0);
        } else if (first <= start) {
            one.start.store(last);
        } else {
            one.end.store(first);
        }
    }
    return munmap(from, size);
}

/* Watches from now on; called once, after whoever else wants these signals. */
HEADSTART_EXPORTED void headstart_watch_mappings(void) {
    struct sigaction action = {};
    action.sa_sigaction = headstart_on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &headstart_before[0]);
#ifdef __APPLE__
    sigaction(SIGSEGV, &action, &headstart_before[1]);
#endif
}

/* How often a mapped file could not be read so far. */
HEADSTART_EXPORTED int headstart_lost_mappings(void) {
    return headstart_lost.load();
}

#define mmap(...) headstart_mmap(__VA_ARGS__)
#define munmap(...) headstart_munmap(__VA_ARGS__)
#endif
