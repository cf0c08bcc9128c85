/* vulkan_traits.h - names of vulkan_traits.def: the numbers of specialization constants, and what a
 * device's lack means. */
#ifndef TESSERA_RUNTIME_VULKAN_TRAITS_H
#define TESSERA_RUNTIME_VULKAN_TRAITS_H

typedef enum vulkan_trait {
#define TRAIT(id, way, what) VULKAN_##id,
#include "device/vulkan_traits.def"
    VULKAN_TRAIT_COUNT
} vulkan_trait;

typedef enum trait_way {
    TRAIT_SOFT,
    TRAIT_REFUSE,
    TRAIT_WIDE,
    TRAIT_TURNS,
    TRAIT_DEVICE
} trait_way;

enum { VULKAN_TURNS_SURE = 65535 }; /* that threads of every device may loop */

#endif
