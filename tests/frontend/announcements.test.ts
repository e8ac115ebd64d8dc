/** The ends of jobs and sweeps: one message, however many end. */

import {
  Announcements,
  endOfJob,
  endOfSweep,
  type IEnd,
  type IShown
} from '../../src/announcements';
import type { JobState } from '../../src/domain';
import { job, sweep, trans } from './helpers';

interface IMessage extends IShown {
  text: string;
  type: string;
}

const shown = new Map<string, IMessage>();
let opened: (IEnd | undefined)[];
let announcements: Announcements;

beforeEach(() => {
  jest.useFakeTimers();
  shown.clear();
  opened = [];
  let last = 0;
  announcements = new Announcements(
    {
      show: (text, type, options) => {
        const id = String(++last);
        shown.set(id, { text, type, ...options });
        return id;
      },
      has: id => shown.has(id),
      dismiss: id => void shown.delete(id)
    },
    trans,
    found => opened.push(found)
  );
});

afterEach(() => jest.useRealTimers());

function end(id: string, state: JobState): void {
  const reason = { code: 'cell_error', message: 'Cell 2 failed.', hint: '' };
  const ended = job(id, { state, reason: state === 'failed' ? reason : null });
  announcements.tell(endOfJob(ended));
}

const texts = () => [...shown.values()].map(({ text }) => text);

test('one is told by its name, a failure with its reason, and leads to it', () => {
  end('a', 'failed');
  expect(texts()).toEqual(['a: failed. Cell 2 failed.']);
  const [{ type, autoClose, open }] = shown.values();
  expect([type, autoClose]).toEqual(['error', 30_000]);
  open();
  expect(opened[0]?.id).toBe('a');
});

test('of one that is done it is told that its program failed', () => {
  const warning = { code: 'program_failed', message: 'Exit status 3.', hint: '' };
  const ended = job('a', { state: 'succeeded' });
  ended.progress.warning = warning;
  ended.result = Object.assign({}, ended.result, { program_cell: 1, program_status: 3 });
  announcements.tell(endOfJob(ended));
  expect(texts()).toEqual(['a: done, its program failed. Exit status 3.']);
  expect([...shown.values()][0].type).toBe('error');
  end('b', 'succeeded');
  expect(texts()).toEqual(['2 jobs have ended: done, its program failed 1 · done 1']);
});

test('many are counted in one message, which leads to the list', () => {
  end('a', 'succeeded');
  end('b', 'failed');
  end('c', 'succeeded');
  expect(texts()).toEqual(['3 jobs have ended: done 2 · failed 1']);
  const [{ type, autoClose, open }] = shown.values();
  expect([type, autoClose]).toEqual(['error', 30_000]);
  open();
  expect(opened).toEqual([undefined]);
});

test('what has gone from the page is not counted again', () => {
  end('a', 'succeeded');
  jest.advanceTimersByTime(11_000);
  end('b', 'succeeded');
  expect(texts()).toEqual(['a: done', 'b: done']);
});

test('a failure is announced for longer, and not for ever', () => {
  end('a', 'failed');
  jest.advanceTimersByTime(20_000);
  end('b', 'cancelled');
  expect(texts()).toEqual(['2 jobs have ended: failed 1 · stopped 1']);
  jest.advanceTimersByTime(31_000);
  end('c', 'cancelled');
  expect(texts()[1]).toBe('c: stopped');
});

test('a sweep is told once, by how its trials ended', () => {
  const ended = sweep('lr', { state: 'failed', counts: { succeeded: 1, failed: 1 } });
  announcements.tell(endOfSweep(ended, trans));
  expect(texts()).toEqual(['lr: failed. 2 of 2 trials · 1 failed']);
  shown.get('1')?.open();
  expect(opened[0]).toMatchObject({ kind: 'sweep', id: 'lr' });
});
