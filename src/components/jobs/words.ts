/** A job in words: its state, how far it is, what else there is to say. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { type IJob, isEnded, type JobState, measuredPeak } from '../../domain';
import { bytes, duration, metric } from '../../format';

/** `program`: the exit status with which a program of a cell has failed; the notebook goes on behind it. */
export function stateName(
  state: JobState,
  trans: TranslationBundle,
  program?: number | null
): string {
  switch (state) {
    case 'queued':
      return trans.__('waiting');
    case 'preparing':
      return trans.__('preparing');
    case 'running':
      return trans.__('running');
    case 'stopping':
      return trans.__('stopping');
    case 'succeeded':
      return program ? trans.__('done, its program failed') : trans.__('done');
    case 'failed':
      return trans.__('failed');
    case 'cancelled':
      return trans.__('stopped');
  }
}

/** Whether it is in its last cell and nobody knows how long that takes: a bar would stand near its end. */
export function isOpenEnded({ state, progress }: IJob): boolean {
  const { cell, cells_done, cells_total, seconds_left } = progress;
  return (
    state === 'running' &&
    cell !== null &&
    cells_done >= cells_total - 1 &&
    seconds_left === null
  );
}

/** Where a job is, in a few words: its state, how far it is or how long it took. */
export function jobSentence(job: IJob, trans: TranslationBundle): string {
  const { progress } = job;
  const parts = [stateName(job.state, trans, job.result?.program_status)];
  if (isEnded(job.state)) {
    if (job.started !== null && job.ended !== null) {
      parts.push(duration(job.ended - job.started, trans));
    }
  } else if (job.state === 'queued') {
    parts.push(...waiting(job, trans));
  } else if (job.state === 'running') {
    if (progress.epoch !== null && progress.epochs) {
      parts.push(trans.__('epoch %1/%2', progress.epoch, progress.epochs));
    } else if (progress.cells_total > 1) {
      // A cell is called by its place among all; how many have run is counted among those with code.
      const { cell, cells_done, cells_total } = progress;
      const done = trans.__('%1 of %2 cells done', cells_done, cells_total);
      parts.push(
        ...(cell === null ? [] : [trans.__('cell %1', cell + 1)]),
        isOpenEnded(job) ? trans.__('last cell, length unknown') : done
      );
    }
    // Less than a second is a guess that came to its end, not a time.
    if (progress.seconds_left !== null && progress.seconds_left >= 1) {
      parts.push(trans.__('%1 left', duration(Math.round(progress.seconds_left), trans)));
    }
  }
  return parts.join(' · ');
}

/** Where a job stands in the queue, and when it is thought to start. */
function waiting(job: IJob, trans: TranslationBundle): string[] {
  if (job.held) {
    return [trans.__('held')];
  }
  if (!job.place) {
    return [];
  }
  const { number, starts } = job.place;
  const place = trans.__('place %1 in the queue', number);
  const left = starts === null ? 0 : starts - Date.now() / 1000;
  return left > 0 ? [place, trans.__('starts in about %1', duration(left, trans))] : [place];
}

/** What else there is to say: what it waits for, its last values, its memory. */
export function jobRemark(job: IJob, trans: TranslationBundle): string {
  const { progress } = job;
  const lost = progress.warning ? [progress.warning.message] : [];
  if (job.state === 'queued' || job.state === 'preparing' || job.state === 'stopping') {
    return job.reason?.message ?? '';
  }
  if (job.state === 'running') {
    const values = Object.entries(progress.metrics).slice(0, 3);
    return [...lost, ...values.map(([name, value]) => `${name} ${metric(value)}`)].join(' · ');
  }
  return [...lost, measuredRemark(job, trans)].filter(Boolean).join(' · ');
}

function measuredRemark(job: IJob, trans: TranslationBundle): string {
  const { result, spec } = job;
  const measured = measuredPeak(result);
  if (job.state !== 'succeeded' || !measured) {
    return '';
  }
  const size = bytes(measured.bytes);
  // What trained on the processor of a device's job was estimated for the device.
  const elsewhere = job.device_ids.length > 0 && measured.over !== 'device';
  const estimated = elsewhere ? null : spec.estimated_allocated_bytes;
  if (measured.over === 'run') {
    return estimated
      ? trans.__('a step estimated %1, whole run measured %2', bytes(estimated), size)
      : trans.__('whole run measured %1', size);
  }
  if (!estimated) {
    return trans.__('measured %1', size);
  }
  return bytes(estimated) === size
    ? trans.__('measured %1, as estimated', size)
    : trans.__('estimated %1, measured %2', bytes(estimated), size);
}
