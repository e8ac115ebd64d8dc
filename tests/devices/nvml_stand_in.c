/* A stand-in for libnvidia-ml.so.1 at its binary interface (nvml.h of CUDA 12), driven by the file that
 * NVML_STAND_IN names. Each line of it is `key value…`:
 *   init CODE                     what nvmlInit answers
 *   count N
 *   handle INDEX CODE             what asking for that card's handle answers
 *   memory INDEX CODE             what asking for its memory answers
 *   mute INDEX                    the card answers NOT_SUPPORTED to all but name, UUID and memory
 *   mig INDEX SLICES              the card is divided
 *   total INDEX BYTES             of a whole card, 80 GiB where nothing is said
 *   used INDEX BYTES
 *   name INDEX NAME               of a whole card, an A100 where nothing is said
 *   process INDEX PID BYTES
 *   xid INDEX CODE                an event that is waited for, once for each line of the file as it is then
 *   busy PID PERCENT              how busy that process keeps each card it is on, in one sample a second
 *   answer INDEX CODE             all but handle, name, UUID and memory answer that
 *   slow INDEX MASK               why the clocks are not at their highest
 *   ecc INDEX CORRECTED UNCORRECTED
 *   fans INDEX COUNT              of 30 %, 31 % ...; without it the card has none
 *   nvlink INDEX PEER LANES       from the one to the other and back
 *   switch INDEX LANES            of that card to switches
 *   near INDEX LEVEL              what that card shares with every other (nvmlGpuTopologyLevel_t), 50 without it
 *   processes FOLDER              each file PID in it, `INDEX BYTES PERCENT`, is a process as long as /proc/PID is there
 * The file is read anew at each nvmlInit and nvmlDeviceGetCount, so that a test can change the world in between.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CARDS 16
#define LANES 12
#define PROCESSES 16
#define GIB (1024ULL * 1024 * 1024)
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

typedef struct { unsigned int pid; unsigned long long used; unsigned int gi, ci; } process_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int pid; unsigned long long time; unsigned int sm, memory, encoder, decoder; } sample_t;
typedef struct { unsigned int gpu, memory; } utilization_t;
typedef struct { char bus_legacy[16]; unsigned int domain, bus, device, id, subsystem; char bus_id[32]; } pci_t;
typedef struct {
    int index, slice; /* slice -1: the whole card */
    int handle_code, memory_code, mute, slices, answer, fans, switched, near;
    unsigned long long slow, corrected, uncorrected;
    int lanes, peer[LANES]; /* of lanes to cards; then come those to switches */
    unsigned long long total, used;
    char name[64];
    int processes;
    process_t process[PROCESSES];
} card_t;

static card_t cards[CARDS], slices[CARDS][8];
static int init_code, count, opened;
static unsigned int busy[PROCESSES][2];
static int xids[PROCESSES][2], xid_count, xid_given;
static int registered[CARDS], event_set;
static int busy_count;

static void add_process(card_t *card, unsigned int pid, unsigned long long bytes) {
    if (card->processes >= PROCESSES) return;
    process_t *process = &card->process[card->processes++];
    process->pid = pid;
    process->used = bytes;
}
static void add_busy(unsigned int pid, unsigned int percent) {
    if (busy_count >= PROCESSES) return;
    busy[busy_count][0] = pid;
    busy[busy_count++][1] = percent;
}

static void add_lanes(card_t *card, int peer, int lanes) {
    for (int i = 0; i < lanes && card->lanes < LANES; i++) card->peer[card->lanes++] = peer;
}

static void load_processes(const char *folder) {
    DIR *directory = opendir(folder);
    struct dirent *entry;
    struct stat status;
    char path[512];
    while (directory && (entry = readdir(directory))) {
        unsigned int pid = (unsigned int)strtoul(entry->d_name, NULL, 10), percent = 0;
        unsigned long long index, bytes;
        snprintf(path, sizeof path, "/proc/%u", pid);
        if (pid == 0 || stat(path, &status)) continue;
        snprintf(path, sizeof path, "%.200s/%.200s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%llu %llu %u", &index, &bytes, &percent) == 3) {
            add_process(&cards[index % CARDS], pid, bytes);
            cards[index % CARDS].used += bytes;
            add_busy(pid, percent);
        }
        if (file) fclose(file);
    }
    if (directory) closedir(directory);
}

static void load(void) {
    char key[32];
    unsigned long long a, b, c;
    memset(cards, 0, sizeof cards);
    init_code = count = busy_count = xid_count = 0;
    char folder[256] = "";
    for (int i = 0; i < CARDS; i++) {
        cards[i].index = i;
        cards[i].slice = -1;
    }
    const char *path = getenv("NVML_STAND_IN");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        a = b = c = 0;
        if (sscanf(line, "processes %255s", folder) == 1) continue;
        char name[64];
        if (sscanf(line, "name %llu %63[^\n]", &a, name) == 2) {
            strcpy(cards[a % CARDS].name, name);
            continue;
        }
        if (sscanf(line, "%31s %llu %llu %llu", key, &a, &b, &c) < 2) continue;
        card_t *card = &cards[a % CARDS];
        if (!strcmp(key, "init")) init_code = (int)a;
        if (!strcmp(key, "count")) count = (int)a;
        if (!strcmp(key, "handle")) card->handle_code = (int)b;
        if (!strcmp(key, "memory")) card->memory_code = (int)b;
        if (!strcmp(key, "mute")) card->mute = 1;
        if (!strcmp(key, "answer")) card->answer = (int)b;
        if (!strcmp(key, "slow")) card->slow = b;
        if (!strcmp(key, "ecc")) { card->corrected = b; card->uncorrected = c; }
        if (!strcmp(key, "fans")) card->fans = (int)b;
        if (!strcmp(key, "switch")) card->switched = (int)b;
        if (!strcmp(key, "near")) card->near = (int)b;
        if (!strcmp(key, "nvlink")) {
            add_lanes(card, (int)b, (int)c);
            add_lanes(&cards[b % CARDS], (int)a, (int)c);
        }
        if (!strcmp(key, "mig")) card->slices = (int)b;
        if (!strcmp(key, "total")) card->total = b;
        if (!strcmp(key, "used")) card->used = b;
        if (!strcmp(key, "process")) add_process(card, (unsigned int)b, c);
        if (!strcmp(key, "xid") && xid_count < PROCESSES) {
            xids[xid_count][0] = (int)a;
            xids[xid_count++][1] = (int)b;
        }
        if (!strcmp(key, "busy")) add_busy((unsigned int)a, (unsigned int)b);
    }
    if (file) fclose(file);
    if (folder[0]) load_processes(folder);
    for (int i = 0; i < CARDS; i++)
        for (int s = 0; s < 8; s++) {
            slices[i][s].index = i;
            slices[i][s].slice = s;
        }
}

int nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    load();
    if (init_code == SUCCESS) opened++;
    return init_code;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) {
    if (opened == 0) return UNINITIALIZED;
    opened--;
    return SUCCESS;
}
const char *nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : "an error"; }

int nvmlDeviceGetCount_v2(unsigned int *out) {
    if (opened == 0) return UNINITIALIZED;
    load();
    if (init_code != SUCCESS) return init_code;
    *out = (unsigned int)count;
    return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, card_t **out) {
    if ((int)index >= count) return INVALID;
    *out = &cards[index];
    return cards[index].handle_code;
}
int nvmlSystemGetDriverVersion(char *out, unsigned int length) { snprintf(out, length, "550.54.15"); return SUCCESS; }
int nvmlSystemGetCudaDriverVersion(int *out) { *out = 12040; return SUCCESS; }

int nvmlDeviceGetName(card_t *card, char *out, unsigned int length) {
    if (card->slice >= 0) snprintf(out, length, "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
    else snprintf(out, length, "%s", card->name[0] ? card->name : "NVIDIA A100-SXM4-80GB");
    return SUCCESS;
}
int nvmlDeviceGetUUID(card_t *card, char *out, unsigned int length) {
    if (card->slice >= 0) snprintf(out, length, "MIG-%d-%d", card->index, card->slice);
    else snprintf(out, length, "GPU-%d", card->index);
    return SUCCESS;
}
#define RESERVED (600ULL << 20)
int nvmlDeviceGetMemoryInfo(card_t *card, memory_t *out) {
    if (card->memory_code) return card->memory_code;
    out->total = card->slice >= 0 ? 10 * GIB : card->total ? card->total : 80 * GIB;
    out->used = card->used;
    out->free = out->total - out->used;
#ifndef OLD_DRIVER
    if (card->slice < 0 && !card->mute && !card->answer) out->used += RESERVED; /* as drivers from 510 on answer the older question */
#endif
    return SUCCESS;
}
#define OR_MUTE(card) if ((card)->answer) return (card)->answer; if ((card)->mute || (card)->slice >= 0) return NOT_SUPPORTED
int nvmlDeviceGetUtilizationRates(card_t *card, utilization_t *out) { OR_MUTE(card); out->gpu = 37; out->memory = 5; return SUCCESS; }
int nvmlDeviceGetTemperature(card_t *card, int sensor, unsigned int *out) { (void)sensor; OR_MUTE(card); *out = 41; return SUCCESS; }
int nvmlDeviceGetPowerUsage(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 61500; return SUCCESS; }
int nvmlDeviceGetEnforcedPowerLimit(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 400000; return SUCCESS; }
int nvmlDeviceGetCudaComputeCapability(card_t *card, int *major, int *minor) { OR_MUTE(card); *major = 8; *minor = 0; return SUCCESS; }
int nvmlDeviceGetPciInfo_v3(card_t *card, pci_t *out) {
    OR_MUTE(card);
    memset(out, 0, sizeof *out);
    snprintf(out->bus_id, sizeof out->bus_id, "00000000:3B:%02X.0", card->index);
    return SUCCESS;
}
int nvmlDeviceGetMigMode(card_t *card, unsigned int *now, unsigned int *pending) {
    OR_MUTE(card);
    *now = *pending = card->slices > 0;
    return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(card_t *card, unsigned int *out) { (void)card; *out = 7; return SUCCESS; }
int nvmlDeviceGetMigDeviceHandleByIndex(card_t *card, unsigned int index, card_t **out) {
    if ((int)index >= card->slices) return NOT_FOUND;
    *out = &slices[card->index][index];
    return SUCCESS;
}
static int list(card_t *card, unsigned int *n, process_t *out) {
    if (card->answer) return card->answer;
    if (card->mute) return 4; /* no permission */
    unsigned int room = *n;
    *n = (unsigned int)card->processes;
    if (card->processes == 0) return SUCCESS;
    if (out == NULL || room < *n) return INSUFFICIENT_SIZE;
    memcpy(out, card->process, sizeof(process_t) * *n);
    return SUCCESS;
}
/* Drivers before 510 know the second version only; its structure is the same. */
#ifdef OLD_DRIVER
#define VERSIONED(name) name##_v2
#else
#define VERSIONED(name) name##_v3
#endif
int VERSIONED(nvmlDeviceGetComputeRunningProcesses)(card_t *card, unsigned int *n, process_t *out) { return list(card, n, out); }
int VERSIONED(nvmlDeviceGetGraphicsRunningProcesses)(card_t *card, unsigned int *n, process_t *out) { return list(card, n, out); }
/* A sample a second of the last ten, newer than asked for, for each process of the card; first the number of rows. */
int nvmlDeviceGetProcessUtilization(card_t *card, sample_t *out, unsigned int *n, unsigned long long since) {
    OR_MUTE(card);
    unsigned int found = 0, room = out ? *n : 0;
    unsigned long long now = (unsigned long long)time(NULL);
    for (unsigned long long second = now - 10; second <= now; second++)
        for (int p = 0; p < card->processes; p++)
            for (int b = 0; b < busy_count; b++) {
                if (busy[b][0] != card->process[p].pid || second * 1000000 <= since) continue;
                if (found < room) {
                    sample_t sample = {busy[b][0], second * 1000000, busy[b][1], 1, 0, 0};
                    out[found] = sample;
                }
                found++;
            }
    *n = found;
    if (found == 0) return NOT_FOUND;
    return out == NULL || room < found ? INSUFFICIENT_SIZE : SUCCESS;
}
/* Events: one set; lines of the file are given out one by one, those behind the ones that were given already. */
typedef struct { card_t *card; unsigned long long type, data; unsigned int gi, ci; } event_t;
int nvmlEventSetCreate(int **out) {
    *out = &event_set;
    memset(registered, 0, sizeof registered);
    return SUCCESS;
}
int nvmlEventSetFree(int *set) { (void)set; return SUCCESS; }
int nvmlDeviceGetSupportedEventTypes(card_t *card, unsigned long long *out) { OR_MUTE(card); *out = 0x1f; return SUCCESS; }
int nvmlDeviceRegisterEvents(card_t *card, unsigned long long types, int *set) {
    OR_MUTE(card);
    (void)set;
    registered[card->index] = (types & 8) != 0;
    return SUCCESS;
}
int nvmlEventSetWait_v2(int *set, event_t *out, unsigned int milliseconds) {
    (void)set;
    (void)milliseconds;
    while (xid_given < xid_count) {
        int index = xids[xid_given][0] % CARDS, code = xids[xid_given++][1];
        if (!registered[index]) continue;
        event_t event = {&cards[index], 8, (unsigned long long)code, 0, 0};
        *out = event;
        return SUCCESS;
    }
    return 10; /* timeout */
}

/* What else a card tells. Drivers before 460 lack what stands under NEW. */
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned int multiprocessors, copy, decoder, encoder, jpeg, ofa, gpu_slices, compute_slices; unsigned long long megabytes; } attributes_t;
typedef struct { unsigned int field, scope; long long time, latency; int type, code; union { double d; unsigned int ui; unsigned long long ull; } value; } field_t;
int nvmlDeviceGetClockInfo(card_t *card, int type, unsigned int *out) { OR_MUTE(card); *out = type == 2 ? 1215 : 1410; return SUCCESS; }
int nvmlDeviceGetMaxClockInfo(card_t *card, int type, unsigned int *out) { OR_MUTE(card); *out = type == 2 ? 1593 : 1980; return SUCCESS; }
int nvmlDeviceGetCurrentClocksThrottleReasons(card_t *card, unsigned long long *out) { OR_MUTE(card); *out = card->slow; return SUCCESS; }
int nvmlDeviceGetTemperatureThreshold(card_t *card, int type, unsigned int *out) { OR_MUTE(card); (void)type; *out = 89; return SUCCESS; }
int nvmlDeviceGetEccMode(card_t *card, int *now, int *pending) { OR_MUTE(card); *now = *pending = 1; return SUCCESS; }
int nvmlDeviceGetTotalEccErrors(card_t *card, int type, int counter, unsigned long long *out) { OR_MUTE(card); (void)counter; *out = type ? card->uncorrected : card->corrected; return SUCCESS; }
int nvmlDeviceGetCurrPcieLinkGeneration(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 1; return SUCCESS; }
int nvmlDeviceGetMaxPcieLinkGeneration(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 4; return SUCCESS; }
int nvmlDeviceGetCurrPcieLinkWidth(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 8; return SUCCESS; }
int nvmlDeviceGetMaxPcieLinkWidth(card_t *card, unsigned int *out) { OR_MUTE(card); *out = 16; return SUCCESS; }
int nvmlDeviceGetFanSpeed(card_t *card, unsigned int *out) { OR_MUTE(card); if (!card->fans) return NOT_SUPPORTED; *out = 30; return SUCCESS; }
int nvmlDeviceGetEncoderUtilization(card_t *card, unsigned int *out, unsigned int *period) { OR_MUTE(card); *out = 3; *period = 1; return SUCCESS; }
int nvmlDeviceGetDecoderUtilization(card_t *card, unsigned int *out, unsigned int *period) { OR_MUTE(card); *out = 4; *period = 1; return SUCCESS; }
int nvmlDeviceGetComputeMode(card_t *card, int *out) { OR_MUTE(card); *out = 3; return SUCCESS; }
int nvmlDeviceGetPersistenceMode(card_t *card, int *out) { OR_MUTE(card); *out = 1; return SUCCESS; }
int nvmlDeviceGetTopologyCommonAncestor(card_t *first, card_t *second, int *out) {
    OR_MUTE(first);
    OR_MUTE(second);
    *out = first->near ? first->near : 50;
    return SUCCESS;
}
int nvmlDeviceGetNvLinkState(card_t *card, unsigned int lane, int *out) {
    OR_MUTE(card);
    if (lane >= LANES || card->lanes + card->switched == 0) return lane >= LANES ? INVALID : NOT_SUPPORTED;
    *out = (int)lane < card->lanes + card->switched;
    return SUCCESS;
}
int nvmlDeviceGetNvLinkVersion(card_t *card, unsigned int lane, unsigned int *out) { if ((int)lane >= card->lanes) return NOT_SUPPORTED; *out = 4; return SUCCESS; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(card_t *card, unsigned int lane, pci_t *out) {
    OR_MUTE(card);
    if ((int)lane >= card->lanes) return INVALID;
    return nvmlDeviceGetPciInfo_v3(&cards[card->peer[lane] % CARDS], out);
}
int nvmlDeviceGetFieldValues(card_t *card, int n, field_t *out) {
    OR_MUTE(card);
    for (int i = 0; i < n; i++) {
        out[i].code = out[i].field == 90 ? SUCCESS : NOT_SUPPORTED;
        out[i].value.ui = 25781;
    }
    return SUCCESS;
}
#ifndef OLD_DRIVER
int nvmlDeviceGetCurrentClocksEventReasons(card_t *card, unsigned long long *out) { OR_MUTE(card); *out = card->slow; return SUCCESS; }
int nvmlDeviceGetMemoryInfo_v2(card_t *card, memory_v2_t *out) {
    OR_MUTE(card);
    if (card->memory_code) return card->memory_code;
    out->reserved = RESERVED;
    out->total = card->total ? card->total : 80 * GIB;
    out->used = card->used;
    out->free = out->total - out->used;
    return SUCCESS;
}
int nvmlDeviceGetNumFans(card_t *card, unsigned int *out) { OR_MUTE(card); *out = (unsigned int)card->fans; return SUCCESS; }
int nvmlDeviceGetFanSpeed_v2(card_t *card, unsigned int fan, unsigned int *out) { OR_MUTE(card); *out = 30 + fan; return SUCCESS; }
int nvmlDeviceGetNvLinkRemoteDeviceType(card_t *card, unsigned int lane, int *out) { OR_MUTE(card); *out = (int)lane < card->lanes ? 0 : 2; return SUCCESS; }
int nvmlDeviceGetAttributes_v2(card_t *card, attributes_t *out) {
    if (card->answer) return card->answer;
    if (card->slice < 0) return NOT_SUPPORTED;
    memset(out, 0, sizeof *out);
    out->gpu_slices = out->compute_slices = 1;
    out->megabytes = 9728;
    return SUCCESS;
}
#endif
