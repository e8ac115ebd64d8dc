// A device of memory alone, for Paddle's own allocator of devices: no kernels, so that each operator runs on the CPU and
// what it gives is put here. Built and loaded by real.py.
#include <cstdlib>
#include <string>
#include <vector>

#include "paddle/phi/backends/custom/fake_cpu_device.h"

namespace {

constexpr size_t kTotal = 64UL << 30, kAlignment = 256;

C_Status Take(const C_Device, void **place, size_t size) {
  *place = malloc(size);
  return *place ? C_SUCCESS : C_FAILED;
}
C_Status Free(const C_Device, void *place, size_t) {
  free(place);
  return C_SUCCESS;
}
C_Status Total(const C_Device, size_t *total, size_t *free) {
  *total = *free = kTotal;
  return C_SUCCESS;
}
C_Status Least(const C_Device, size_t *size) {
  *size = kAlignment;
  return C_SUCCESS;
}
C_Status Most(const C_Device, size_t *size) {
  *size = kTotal;
  return C_SUCCESS;
}
C_Status Nothing(const C_Device, size_t *size) {
  *size = 0;
  return C_SUCCESS;
}
C_Status Stream(const C_Device, C_Stream *stream) {
  *stream = static_cast<C_Stream>(malloc(1));
  return C_SUCCESS;
}
C_Status Event(const C_Device, C_Event *event) {
  *event = static_cast<C_Event>(malloc(1));
  return C_SUCCESS;
}
C_Status IsThrough(const C_Device, C_Stream) { return C_SUCCESS; }
C_Status HasHappened(const C_Device, C_Event) { return C_SUCCESS; }
C_Status Fill(const C_Device, void *place, unsigned char value, size_t size) {
  memset(place, value, size);
  return C_SUCCESS;
}

}  // namespace

extern "C" void InitPlugin(CustomRuntimeParams *params) {
  PADDLE_CUSTOM_RUNTIME_CHECK_VERSION(params);
  InitFakeCPUDevice(params);
  static std::vector<std::string> none;
  params->device_type = const_cast<char *>("ledger");
  params->pir_default_passes = &none;
  auto *device = params->interface;
  device->device_memory_allocate = device->host_memory_allocate = device->unified_memory_allocate = Take;
  device->device_memory_deallocate = device->host_memory_deallocate = device->unified_memory_deallocate = Free;
  device->device_memory_stats = Total;
  device->device_min_chunk_size = Least;
  device->device_max_chunk_size = device->device_max_alloc_size = Most;
  device->device_extra_padding_size = Nothing;
  device->create_stream = Stream;
  device->query_stream = IsThrough;
  device->create_event = Event;
  device->query_event = HasHappened;
  device->device_memory_set = Fill;
}
