/* sanitizer.h - BUILT_WITH_ASAN, BUILT_WITH_TSAN: 1 where the address or the thread sanitizer is in
 * this build, else 0. */
#ifndef TESSERA_BASE_SANITIZER_H
#define TESSERA_BASE_SANITIZER_H

#if defined(__has_feature)
#define BUILT_WITH_TSAN __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define BUILT_WITH_TSAN 1
#else
#define BUILT_WITH_TSAN 0
#endif

#if defined(__has_feature)
#define BUILT_WITH_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define BUILT_WITH_ASAN 1
#else
#define BUILT_WITH_ASAN 0
#endif

#endif
