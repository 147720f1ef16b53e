/* NVIDIA's management library as two H100 would answer; the first grows busy after the first reading.
   NVML_BUSY is how busy it is in percent, NVML_REASONS why its clocks are low (nvml.h). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct memory { unsigned long long total, free, used; };
struct utilisation { unsigned int gpu, memory; };
static int readings;

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) { *device = (void *)(uintptr_t)(index + 1); return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned int length) { strncpy(name, "NVIDIA H100 80GB HBM3", length); return 0; }
int nvmlSystemGetDriverVersion(char *version, unsigned int length) { strncpy(version, "580.65.06", length); return 0; }

static unsigned long long given(const char *name, unsigned long long other) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : other;
}
static int is_first(void *device) { return (uintptr_t)device == 1; }

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory) {
    memory->total = 85520809984ULL;
    memory->used = (is_first(device) && readings++ > 2) ? 12ULL << 30 : 500ULL << 20;
    memory->free = memory->total - memory->used;
    return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned int *milliwatts) { *milliwatts = is_first(device) ? 400000 : 70000; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, struct utilisation *use) { use->gpu = is_first(device) ? given("NVML_BUSY", 80) : 0; use->memory = 0; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) { *reasons = is_first(device) ? given("NVML_REASONS", 0) : 0; return 0; }
