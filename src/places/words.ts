/** What the status bar says. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { deviceName } from '../components/devices/words';
import { isEnded } from '../domain';
import type { PanelModel } from '../models/panel';

/** Share of a device's memory below which nobody has it: a driver takes some for itself. */
const FREE = 0.05;

/** `1 running · epoch 2/3 · GPU 1 free`; empty where nothing is under way. */
export function inWords(
  model: Pick<PanelModel, 'jobs' | 'inventory'>,
  trans: TranslationBundle
): string {
  const active = model.jobs.list.filter(({ state }) => !isEnded(state));
  if (!active.length) {
    return '';
  }
  const running = active.filter(({ state }) => state !== 'queued');
  const waiting = active.length - running.length;
  const { epoch = null, epochs = null } = running[0]?.progress ?? {};
  // A job has its devices from its start on, before its processes take any memory.
  const given = new Set(running.flatMap(job => job.device_ids));
  const free = (model.inventory?.devices ?? []).filter(
    ({ id, simulated, memory_used, memory_total, processes }) =>
      !given.has(id) &&
      !simulated &&
      !processes.length &&
      memory_used !== null &&
      !!memory_total &&
      memory_used < FREE * memory_total
  );
  return [
    running.length ? trans.__('%1 running', running.length) : '',
    epoch !== null && epochs ? trans.__('epoch %1/%2', epoch, epochs) : '',
    waiting ? trans.__('%1 waiting', waiting) : '',
    free.length
      ? trans.__('%1 free', free.map(device => deviceName(device, trans)).join(', '))
      : ''
  ]
    .filter(Boolean)
    .join(' · ');
}
