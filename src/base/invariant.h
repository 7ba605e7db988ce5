/* invariant.h - how the code states what must always hold.
 *
 * assert() is for conditions that cost nothing to test. It is on in every
 * build unless NDEBUG is defined. A failed assertion is a mistake in this
 * library; wrong input and damaged files never reach one, they are reported as
 * error values.
 *
 * PARANOID_CHECK() is for walks over whole structures, such as counting every
 * reference in a tree. `make PARANOID=1` turns these on; they make decoding
 * many times slower. The argument is a call that returns true when the
 * structure is sound. */
#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#include <assert.h>

#ifdef PARANOID
#define PARANOID_CHECK(sound) assert(sound)
#else
#define PARANOID_CHECK(sound) ((void)0)
#endif

#endif
