/** What the status bar says, and when the panel opens by itself. */

import { Signal } from '@lumino/signaling';

import { endOfJob } from '../../src/announcements';
import { FailureBadge } from '../../src/places/badge';
import { importsPaddle, onceEver } from '../../src/places/firstLook';
import { isInView, pageOf } from '../../src/places/inView';
import { onceSeen } from '../../src/places/start';
import { inWords } from '../../src/places/words';
import type { IDevice, IJob } from '../../src/domain';
import type { Jobs } from '../../src/models/jobs/jobs';
import type { PanelModel } from '../../src/models/panel';
import { Once } from '../../src/once';
import type { PanelWidget } from '../../src/panelWidget';
import { job, trans } from './helpers';

const card = (index: number, used: number) =>
  ({
    id: `GPU-${index}`,
    index,
    kind: 'gpu',
    simulated: false,
    processes: [],
    memory_used: used,
    memory_total: 100
  }) as unknown as IDevice;

function said(jobs: ReturnType<typeof job>[], devices: IDevice[] = []): string {
  const model = { jobs: { list: jobs }, inventory: { devices } };
  return inWords(model as unknown as PanelModel, trans);
}

test('nothing is said while nothing runs', () => {
  expect(said([job('a', { state: 'succeeded' })], [card(0, 0)])).toBe('');
});

test('how many run, how far the first one is, what waits, what is free', () => {
  const running = job('a');
  const progress = { ...running.progress, epoch: 2, epochs: 3 };
  const jobs = [{ ...running, progress }, job('b', { state: 'queued' })];
  expect(said(jobs, [card(0, 90), card(1, 1)])).toBe(
    '1 running · epoch 2/3 · 1 waiting · GPU 1 free'
  );
});

test('a device that a job was given is not free, whatever is used of it', () => {
  expect(said([job('a', { device_ids: ['GPU-0'] })], [card(0, 0), card(1, 0)])).toBe(
    '1 running · GPU 1 free'
  );
});

test.each([
  ['import paddle', true],
  ['x = 1\n  from paddle import nn', true],
  ['import paddlenlp', true],
  ['# import paddle', false],
  ['import numpy', false]
])('%j uses Paddle: %s', (code, uses) => {
  expect(importsPaddle(code)).toBe(uses);
});

test('what happens once happens once', async () => {
  const kept = new Map<string, unknown>();
  const state = {
    fetch: (key: string) => Promise.resolve(kept.get(key)),
    save: (key: string, value: unknown) => Promise.resolve(kept.set(key, value))
  };
  const done = jest.fn();
  await onceEver(state as never, 'opened', done);
  await onceEver(state as never, 'opened', done);
  await onceEver(null, 'opened', done);
  expect(done).toHaveBeenCalledTimes(1);
});

test('failures are counted until somebody looks, also over a reload', async () => {
  const kept = new Map<string, unknown>();
  const state = {
    fetch: (key: string) => Promise.resolve(kept.get(key)),
    save: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value))
  };
  const failed = (id: string, ended: number) => job(id, { state: 'failed', ended });
  /** JupyterLab as it is after a reload, with jobs that the server lists. */
  const load = async (list: IJob[]) => {
    const [ended, changed, seen] = ['ended', 'changed', 'seen'].map(
      () => new Signal<object, never>({})
    );
    const jobs = { ended, changed, list, isLoaded: true, refresh: () => Promise.resolve() };
    const title = { caption: '', dataset: { id: 'panel' } };
    const panel = { title, seen, isVisible: false };
    const watch = jest.fn(() => ({ isDisposed: false, dispose: () => undefined }));
    const badge = new FailureBadge(
      panel as unknown as PanelWidget,
      jobs as unknown as Jobs,
      { watch },
      trans,
      state as never
    );
    await new Promise(process.nextTick);
    return {
      title,
      end: (one: IJob) => {
        jobs.list.push(one);
        ended.emit(one as never);
        changed.emit(undefined as never);
      },
      look: () => {
        panel.isVisible = true;
        seen.emit(undefined as never);
        panel.isVisible = false;
      },
      leave: () => badge.dispose()
    };
  };

  // What failed before anybody had the extension is no news.
  const first = await load([failed('old', 10)]);
  expect(first.title.dataset).toEqual({ id: 'panel' });
  first.end(failed('a', 20));
  // It leaves what JupyterLab has noted on the tab.
  expect(first.title.dataset).toEqual({ id: 'panel', failures: '1' });
  first.leave();

  const second = await load([failed('old', 10), failed('a', 20), failed('meanwhile', 30)]);
  expect(second.title.dataset).toEqual({ id: 'panel', failures: '2' });
  second.look();
  expect(second.title.dataset).toEqual({ id: 'panel' });

  // A failure on whose page one looks is no news, nor later.
  const page = Object.assign(document.createElement('div'), { id: pageOf('b') });
  page.getBoundingClientRect = () => ({ height: 9, top: 0, bottom: 9 }) as DOMRect;
  document.body.append(page);
  second.end(failed('b', 40));
  expect(second.title.dataset).toEqual({ id: 'panel' });
  page.remove();
  second.leave();
  const third = await load([failed('b', 40)]);
  expect(third.title.dataset).toEqual({ id: 'panel' });
  third.leave();
});

test('who ever saw jobs hears of all later ones from the start of a page on, whoever begins them', async () => {
  const kept = new Map<string, unknown>();
  const state = {
    fetch: (key: string) => Promise.resolve(kept.get(key)),
    save: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value))
  };
  /** A page on which nobody looks at the panel: what it asks for, and what its tab says. */
  const load = async () => {
    const [ended, changed, seen] = ['ended', 'changed', 'seen'].map(
      () => new Signal<object, never>({})
    );
    const jobs = { ended, changed, list: [] as IJob[], isLoaded: false };
    const title: { caption: string; dataset: object } = { caption: '', dataset: {} };
    const leave = jest.fn();
    const watch = jest.fn(() => ({ isDisposed: false, dispose: leave }));
    const badge = new FailureBadge(
      { title, seen, isVisible: false } as unknown as PanelWidget,
      jobs as unknown as Jobs,
      { watch },
      trans,
      state as never
    );
    const read = jest.fn();
    window.requestIdleCallback = act => Number(void act({} as IdleDeadline));
    await onceSeen(state as never, Promise.resolve(), read);
    await new Promise(process.nextTick);
    const hear = (list: IJob[]) => {
      Object.assign(jobs, { list, isLoaded: true });
      changed.emit(undefined as never);
    };
    return { title, watch, hear, read, badge, leave };
  };

  const stranger = await load();
  expect(stranger.read).not.toHaveBeenCalled();
  expect(stranger.watch).not.toHaveBeenCalled();
  // The panel was opened; nothing has failed yet.
  stranger.hear([]);
  expect(stranger.watch).toHaveBeenCalledTimes(1);
  stranger.badge.dispose();
  expect(stranger.leave).toHaveBeenCalledTimes(1);

  const morning = await load();
  expect(morning.read).toHaveBeenCalledTimes(1);
  expect(morning.watch).toHaveBeenCalledWith('jobs');
  morning.hear([job('overnight', { state: 'failed', ended: 20 })]);
  expect(morning.title.dataset).toEqual({ failures: '1' });
  morning.badge.dispose();
});

test('what is made once is made by the first who asks, and again where that failed', async () => {
  const answers = [new Error('no answer'), 'model'];
  const make = jest.fn(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) {
      throw answer;
    }
    return answer;
  });
  const once = new Once(make);
  expect(once.value).toBeNull();
  await expect(once.get()).rejects.toThrow('no answer');
  expect(await Promise.all([once.get(), once.get()])).toEqual(['model', 'model']);
  expect(once.value).toBe('model');
  expect(make).toHaveBeenCalledTimes(2);
});

test('an end is read where a list of jobs is in view, or its own page', () => {
  const shown = (name: Partial<HTMLElement>, height: number) => {
    const node = Object.assign(document.createElement('div'), name);
    node.getBoundingClientRect = () => ({ height, top: 0, bottom: height }) as DOMRect;
    document.body.replaceChildren(node);
    return [isInView(endOfJob(job('a'))), isInView({ ...endOfJob(job('a')), kind: 'sweep' })];
  };
  expect(shown({ id: pageOf('a') }, 500)).toEqual([true, false]);
  expect(shown({ id: pageOf('a') }, 0)).toEqual([false, false]);
  expect(shown({ id: pageOf('b') }, 500)).toEqual([false, false]);
  expect(shown({ className: 'jp-PaddleGpu-jobs' }, 500)).toEqual([true, true]);
  expect(shown({ className: 'jp-PaddleGpu-jobsPage' }, 500)).toEqual([true, true]);
  document.body.replaceChildren();
});
