/* mock_tables.c - tables of functions that the loader asks for and nobody here calls: they stay as
 * they are. */
#include <stdint.h>

#define TABLE(name)                                                                                \
    __attribute__((visibility("default"))) uint32_t name(uint32_t version, void *table);           \
    uint32_t name(uint32_t version, void *table) {                                                 \
        (void)version, (void)table;                                                                \
        return 0;                                                                                  \
    }
TABLE(zeGetDeviceExpProcAddrTable)
TABLE(zeGetEventExpProcAddrTable)
TABLE(zeGetFabricEdgeExpProcAddrTable)
TABLE(zeGetFabricVertexExpProcAddrTable)
TABLE(zeGetImageExpProcAddrTable)
TABLE(zeGetImageProcAddrTable)
TABLE(zeGetKernelExpProcAddrTable)
TABLE(zeGetPhysicalMemProcAddrTable)
TABLE(zeGetSamplerProcAddrTable)
TABLE(zeGetVirtualMemProcAddrTable)
TABLE(zesGetDeviceProcAddrTable)
TABLE(zesGetDiagnosticsProcAddrTable)
TABLE(zesGetDriverProcAddrTable)
TABLE(zesGetEngineProcAddrTable)
TABLE(zesGetFabricPortProcAddrTable)
TABLE(zesGetFanProcAddrTable)
TABLE(zesGetFirmwareProcAddrTable)
TABLE(zesGetFrequencyProcAddrTable)
TABLE(zesGetLedProcAddrTable)
TABLE(zesGetMemoryProcAddrTable)
TABLE(zesGetPerformanceFactorProcAddrTable)
TABLE(zesGetPowerProcAddrTable)
TABLE(zesGetPsuProcAddrTable)
TABLE(zesGetRasProcAddrTable)
TABLE(zesGetSchedulerProcAddrTable)
TABLE(zesGetStandbyProcAddrTable)
TABLE(zesGetTemperatureProcAddrTable)
TABLE(zetGetCommandListProcAddrTable)
TABLE(zetGetContextProcAddrTable)
TABLE(zetGetDebugProcAddrTable)
TABLE(zetGetDeviceProcAddrTable)
TABLE(zetGetKernelProcAddrTable)
TABLE(zetGetMetricGroupExpProcAddrTable)
TABLE(zetGetMetricGroupProcAddrTable)
TABLE(zetGetMetricProcAddrTable)
TABLE(zetGetMetricQueryPoolProcAddrTable)
TABLE(zetGetMetricQueryProcAddrTable)
TABLE(zetGetMetricStreamerProcAddrTable)
TABLE(zetGetModuleProcAddrTable)
TABLE(zetGetTracerExpProcAddrTable)
