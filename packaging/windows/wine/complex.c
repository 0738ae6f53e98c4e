/* Complex functions of Microsoft's C runtime, which wine lacks and numpy imports. There a complex number is a struct
 * of two, and a long double is a double. */
#include <complex.h>
#include <math.h>

typedef struct { double re, im; } both;
typedef struct { float re, im; } bothf;

#define CROSSING(pair, width, from, to)                     \
    static inline width _Complex from(pair a) {             \
        width _Complex z;                                   \
        __real__ z = a.re;                                  \
        __imag__ z = a.im;                                  \
        return z;                                           \
    }                                                       \
    static inline pair to(width _Complex z) {               \
        pair a = {__real__ z, __imag__ z};                  \
        return a;                                           \
    }
CROSSING(both, double, from, to)
CROSSING(bothf, float, fromf, tof)

#define OF_ONE(name)                                        \
    both hs_##name(both a) { return to(name(from(a))); }    \
    both hs_##name##l(both a) { return to(name(from(a))); } \
    bothf hs_##name##f(bothf a) { return tof(name##f(fromf(a))); }
OF_ONE(cacos) OF_ONE(cacosh) OF_ONE(casin) OF_ONE(casinh) OF_ONE(catan) OF_ONE(catanh)
OF_ONE(ccos) OF_ONE(ccosh) OF_ONE(csin) OF_ONE(csinh) OF_ONE(ctan) OF_ONE(ctanh)
OF_ONE(cexp) OF_ONE(clog) OF_ONE(csqrt)

#define OF_TWO(pair, name, power, from, to) \
    pair name(pair a, pair b) { return to(power(from(a), from(b))); }
OF_TWO(both, hs_cpow, cpow, from, to)
OF_TWO(both, hs_cpowl, cpow, from, to)
OF_TWO(bothf, hs_cpowf, cpowf, fromf, tof)

#define TO_REAL(name, expression, expressionf)              \
    double hs_##name(both a) { return expression; }         \
    double hs_##name##l(both a) { return expression; }      \
    float hs_##name##f(bothf a) { return expressionf; }
TO_REAL(cabs, hypot(a.re, a.im), hypotf(a.re, a.im))
TO_REAL(carg, atan2(a.im, a.re), atan2f(a.im, a.re))
TO_REAL(creal, a.re, a.re)
TO_REAL(cimag, a.im, a.im)
