/* The tests' stand-in for NVML with the functions more that the peers ask for; each call of NVML is
 * counted in the file that NVML_CALLS names and takes NVML_DELAY microseconds. Built with -finstrument-functions. */
#define _GNU_SOURCE
#include "../../tests/devices/nvml_stand_in.c"
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define QUIET __attribute__((no_instrument_function))

int nvmlDeviceGetPcieThroughput(card_t *card, int counter, unsigned int *out) { OR_MUTE(card); *out = counter ? 2048 : 1024; return SUCCESS; }
int nvmlDeviceGetIndex(card_t *card, unsigned int *out) { *out = (unsigned int)card->index; return SUCCESS; }
int nvmlDeviceGetMinorNumber(card_t *card, unsigned int *out) { *out = (unsigned int)card->index; return SUCCESS; }
int nvmlDeviceIsMigDeviceHandle(card_t *card, unsigned int *out) { *out = card->slice >= 0; return SUCCESS; }
int nvmlDeviceGetPerformanceState(card_t *card, int *out) { OR_MUTE(card); *out = 0; return SUCCESS; }
int nvmlDeviceGetDisplayMode(card_t *card, int *out) { OR_MUTE(card); *out = 0; return SUCCESS; }
int nvmlDeviceGetDisplayActive(card_t *card, int *out) { OR_MUTE(card); *out = 0; return SUCCESS; }
int nvmlDeviceGetPowerManagementLimit(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 400000; return SUCCESS; }

static long *calls;
static useconds_t delay;
__attribute__((constructor)) QUIET static void open_counter(void) {
    const char *path = getenv("NVML_CALLS"), *microseconds = getenv("NVML_DELAY");
    int file = path ? open(path, O_RDWR) : -1;
    if (file >= 0) calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (calls == MAP_FAILED) calls = NULL;
    delay = microseconds ? (useconds_t)atoi(microseconds) : 0;
}
QUIET void __cyg_profile_func_enter(void *function, void *caller) {
    Dl_info found;
    (void)caller;
    /* Static functions have no name of their own in the dynamic table. */
    if (!calls || !dladdr(function, &found) || found.dli_saddr != function || strncmp(found.dli_sname, "nvml", 4)) return;
    __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
    if (delay) usleep(delay);
}
QUIET void __cyg_profile_func_exit(void *function, void *caller) { (void)function; (void)caller; }
