/**
 * What a page costs while something happens in it: processor time of its main thread, which a busy machine leaves as it
 * is, and frames, which it does not; these are to be held against the same page at rest in the same minutes.
 */

import type { Browser, CDPSession, Page } from '@playwright/test';
import { existsSync, readFileSync, writeFileSync } from 'fs';
import { cpus, loadavg } from 'os';
import { join, resolve } from 'path';

const RESULTS = resolve(__dirname, '..', '..', '..', 'benchmarks', 'results');
/** A folder for a profile of each stretch, to see where the time goes; its own cost is then in the figures. */
const PROFILE = process.env.PROFILE;
let profiles = 0;
/** Milliseconds of a frame at 60 a second. */
const FRAME = 1000 / 60;
/** Between two frames that come a little late. */
const LATE = 1.5 * FRAME;

/** What the main thread did in a stretch of time, in milliseconds; `cpu` and `longest_task` are its processor time. */
export interface ICost {
  wall: number;
  cpu: number;
  script: number;
  style_and_layout: number;
  longest_task: number;
  tasks_over_50: number;
  frames: number;
  frames_dropped: number;
  longest_frame: number;
}

interface ITraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  tdur?: number;
  args: { name?: string };
}

/** The page while `act` runs; watching its frames keeps it drawing, so where processor time is wanted nobody watches. */
export async function cost(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>,
  watchesFrames = true
): Promise<ICost> {
  const session = await devtools(page);
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await page.evaluate(watchFrames, watchesFrames);
  if (PROFILE) {
    await session.send('Profiler.enable');
    await session.send('Profiler.start');
  }
  const before = await metrics(session);
  const began = Date.now();
  await act();
  const wall = Date.now() - began;
  const after = await metrics(session);
  if (PROFILE) {
    const { profile } = await session.send('Profiler.stop');
    writeFileSync(join(PROFILE, `${++profiles}.cpuprofile`), JSON.stringify(profile));
  }
  const times = await page.evaluate(() => {
    const own = window as unknown as { frameTimes: number[]; frameStop: boolean };
    own.frameStop = true;
    return own.frameTimes ?? []; // a page that was loaded meanwhile has none
  });
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: ITraceEvent[];
  };
  await session.detach();
  const tasks = mainTasks(trace.traceEvents);
  const gaps = times.slice(1).map((time, index) => time - times[index]);
  const spent = (...names: string[]) =>
    names.reduce((sum, name) => sum + 1000 * (after[name] - before[name]), 0);
  return {
    wall,
    cpu: spent('TaskDuration'),
    script: spent('ScriptDuration'),
    style_and_layout: spent('LayoutDuration', 'RecalcStyleDuration'),
    longest_task: Math.max(0, ...tasks),
    tasks_over_50: tasks.filter(task => task > 50).length,
    frames: gaps.length,
    frames_dropped: gaps
      .filter(gap => gap > LATE)
      .reduce((sum, gap) => sum + Math.round(gap / FRAME) - 1, 0),
    longest_frame: Math.max(0, ...gaps)
  };
}

/** Chromium's own tools on a page, with times of the processor. */
export async function devtools(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return session;
}

/** The figures of the page's own thread. */
export async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const answer = (await session.send('Performance.getMetrics')) as {
    metrics: { name: string; value: number }[];
  };
  return Object.fromEntries(answer.metrics.map(({ name, value }) => [name, value]));
}

/**
 * Processor time of the busiest page's main thread while `act` runs, which may load it anew: in all, and until the page
 * has painted something; in milliseconds.
 */
export async function processorTime(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>
): Promise<{ cpu: number; cpu_to_first_paint: number }> {
  await browser.startTracing(page, { categories: ['toplevel', 'loading', '__metadata'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: ITraceEvent[];
  };
  const painted = traceEvents.find(({ name }) => name === 'firstContentfulPaint')?.ts ?? NaN;
  const sum = (tasks: number[]) => tasks.reduce((total, task) => total + task, 0);
  return {
    cpu: sum(mainTasks(traceEvents)),
    cpu_to_first_paint: sum(mainTasks(traceEvents.filter(({ ts, ph }) => ph !== 'X' || ts <= painted)))
  };
}

/** Processor time of each task of the busiest page's main thread, in milliseconds. */
function mainTasks(events: readonly ITraceEvent[]): number[] {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`)
  );
  const threads = new Map<string, number[]>();
  for (const { name, ph, pid, tid, tdur } of events) {
    const key = `${pid} ${tid}`;
    if (ph === 'X' && name.endsWith('RunTask') && tdur !== undefined && mains.has(key)) {
      threads.set(key, [...(threads.get(key) ?? []), tdur / 1000]);
    }
  }
  const sum = (tasks: number[]) => tasks.reduce((total, task) => total + task, 0);
  return [...threads.values()].sort((a, b) => sum(b) - sum(a))[0] ?? [];
}

function watchFrames(watches: boolean): void {
  const own = window as unknown as { frameTimes: number[]; frameStop: boolean };
  const times: number[] = [];
  own.frameTimes = times;
  own.frameStop = false;
  const next = (time: number): void => {
    times.push(time);
    if (!own.frameStop && own.frameTimes === times) {
      requestAnimationFrame(next);
    }
  };
  if (watches) {
    requestAnimationFrame(next);
  }
}

/** Milliseconds from the press in `act` until each of the selectors has been drawn in the page. */
export async function untilDrawn<T extends readonly string[]>(
  page: Page,
  selectors: readonly [...T],
  act: () => Promise<unknown>
): Promise<{ [Index in keyof T]: number }> {
  await page.evaluate(all => {
    const own = window as unknown as { drawn: Promise<number[]> };
    // From the press itself: what the browser's driver takes beforehand is not the page's.
    const pressed = new Promise<number>(done =>
      window.addEventListener('pointerdown', event => done(event.timeStamp), {
        once: true,
        capture: true // JupyterLab's tabs tell nobody else of it
      })
    );
    const until = async (where: string): Promise<number> => {
      const began = await pressed;
      return new Promise(done => {
        const look = (): void => {
          if (document.querySelector(where)?.checkVisibility()) {
            // The frame in which it is drawn has passed when the next task comes.
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
          } else {
            requestAnimationFrame(look);
          }
        };
        look();
      });
    };
    own.drawn = Promise.all(all.map(until));
  }, selectors as readonly string[]);
  await act();
  const drawn = await page.evaluate(() => (window as unknown as { drawn: number[] }).drawn);
  return drawn as { [Index in keyof T]: number };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which a share of all lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** The median of each figure of several costs. */
export function typical(costs: readonly ICost[]): ICost {
  const names = Object.keys(costs[0]) as (keyof ICost)[];
  return Object.fromEntries(
    names.map(name => [name, median(costs.map(one => one[name]))])
  ) as unknown as ICost;
}

/** Keep the figures of one program beside those of the others, and print them. */
export function save(name: string, figures: object, file = 'browser'): void {
  const path = join(RESULTS, `${file}.json`);
  const kept = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  const about = {
    date: new Date().toISOString().slice(0, 10),
    processors: cpus().length,
    load_average: Math.round(loadavg()[0] * 10) / 10
  };
  kept[name] = { about, ...(rounded(figures) as object) };
  writeFileSync(path, `${JSON.stringify(kept, null, 1)}\n`);
  process.stdout.write(`${name}: ${JSON.stringify(kept[name], null, 1)}\n`);
}

/** Figures with four digits, which is more than they are worth. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? value : Number(value.toPrecision(4));
  }
  if (Array.isArray(value)) {
    return value.map(rounded);
  }
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
  }
  return value;
}
