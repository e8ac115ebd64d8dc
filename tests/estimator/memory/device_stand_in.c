/* A device for Paddle that is the machine's memory and writes down what Paddle's allocator asks of it.
 *
 * The binary interface of paddle/phi/backends/device_ext.h (Paddle 2.6 to 3.3), as far as tensors need it: the header
 * itself is C++. The places of the calls are their places in C_DeviceInterface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int id; } *Device;
typedef void (*Call)(void);
struct Interface { size_t size; Call calls[]; };
struct Parameters {
  size_t size;
  struct Interface *interface;
  size_t major, minor, patch;
  const char *type, *subtype;
};
enum {
  INITIALIZE, FINALIZE, INIT_DEVICE, SET_DEVICE, GET_DEVICE, DEINIT_DEVICE, CREATE_STREAM, DESTROY_STREAM, QUERY_STREAM,
  STREAM_CALLBACK, CREATE_EVENT, RECORD_EVENT, DESTROY_EVENT, QUERY_EVENT, SYNCHRONIZE_DEVICE, SYNCHRONIZE_STREAM,
  SYNCHRONIZE_EVENT, STREAM_WAITS,
  ALLOCATE = 26, DEALLOCATE, HOST_ALLOCATE = 29, HOST_DEALLOCATE, TO_DEVICE = 33, TO_HOST, WITHIN,
  LATER_TO_DEVICE = 37, LATER_TO_HOST, LATER_WITHIN,
  COUNT = 49, LIST, MEMORY, LEAST_CHUNK, PADDING = 55
};
static const size_t TOTAL = (size_t)16 << 30;
static size_t used;
static FILE *asked;

static int done(void) { return 0; }
static int which(Device device) { return device->id = 0; }
static int made(Device device, void **handle) { (void)device; *handle = malloc(8); return 0; }
static int allocate(Device device, void **at, size_t size) {
  (void)device;
  fprintf(asked, "%zu\n", size);
  fflush(asked);
  used += size;
  return posix_memalign(at, 4096, size) != 0;
}
static int deallocate(Device device, void *at, size_t size) {
  (void)device;
  fprintf(asked, "-%zu\n", size);
  fflush(asked);
  used -= size;
  free(at);
  return 0;
}
static int host_allocate(Device device, void **at, size_t size) { (void)device; return !(*at = malloc(size)); }
static int host_deallocate(Device device, void *at) { (void)device; free(at); return 0; }
static int copy(Device device, void *to, const void *from, size_t size) { (void)device; memcpy(to, from, size); return 0; }
static int copy_later(Device device, void *stream, void *to, const void *from, size_t size) {
  (void)stream;
  return copy(device, to, from, size);
}
static int one(size_t *count) { *count = 1; return 0; }
static int first(size_t *devices) { *devices = 0; return 0; }
static int memory(Device device, size_t *total, size_t *left) {
  (void)device;
  *total = TOTAL;
  *left = TOTAL - used;
  return 0;
}
static int least(Device device, size_t *size) { (void)device; *size = 256; return 0; }
static int nothing(Device device, size_t *size) { (void)device; *size = 0; return 0; }

void InitPlugin(struct Parameters *parameters) {
  Call *calls = parameters->interface->calls;
  asked = fopen(getenv("STAND_IN_ASKED"), "w");
  parameters->major = 0;
  parameters->minor = parameters->patch = 1;
  parameters->type = "stand_in";
  parameters->subtype = "1";
  for (int call = INITIALIZE; call <= STREAM_WAITS; call++) calls[call] = (Call)done;
  calls[GET_DEVICE] = (Call)which;
  calls[CREATE_STREAM] = calls[CREATE_EVENT] = (Call)made;
  calls[ALLOCATE] = (Call)allocate;
  calls[DEALLOCATE] = (Call)deallocate;
  calls[HOST_ALLOCATE] = (Call)host_allocate;
  calls[HOST_DEALLOCATE] = (Call)host_deallocate;
  calls[TO_DEVICE] = calls[TO_HOST] = calls[WITHIN] = (Call)copy;
  calls[LATER_TO_DEVICE] = calls[LATER_TO_HOST] = calls[LATER_WITHIN] = (Call)copy_later;
  calls[COUNT] = (Call)one;
  calls[LIST] = (Call)first;
  calls[MEMORY] = (Call)memory;
  calls[LEAST_CHUNK] = (Call)least;
  calls[PADDING] = (Call)nothing;
}
