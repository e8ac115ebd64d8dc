import { endOfJob } from '../../src/announcements';
import { BrowserNotices } from '../../src/places/browserNotices';
import { job, trans } from './helpers';

const JOB = endOfJob(
  job('tagger', {
    state: 'failed',
    reason: { code: 'cell_error', message: 'Cell 6 failed.', hint: '' }
  })
);

class Shown {
  static permission = 'default';
  static all: Shown[] = [];
  static asked = 0;
  static async requestPermission(): Promise<string> {
    Shown.asked++;
    return Shown.permission;
  }
  onclick: () => void = () => undefined;
  closed = false;
  constructor(
    readonly title: string,
    readonly options: { body: string; tag: string }
  ) {
    Shown.all.push(this);
  }
  close(): void {
    this.closed = true;
  }
}

let focused = false;

beforeEach(() => {
  Shown.all = [];
  Shown.permission = 'default';
  focused = false;
  Object.assign(window, { Notification: Shown, focus: () => undefined });
  document.hasFocus = () => focused;
});

test('nothing is shown before somebody asked for it and the browser agreed', async () => {
  const notices = new BrowserNotices(trans, () => undefined);
  expect(notices.tell(JOB)).toBe(false);
  notices.isOn = true;
  expect(await notices.ask()).toBe(false);
  expect(notices.tell(JOB)).toBe(false);
  Shown.permission = 'granted';
  expect(await notices.ask()).toBe(true);
  expect(notices.tell(JOB)).toBe(true);
  focused = true;
  expect(notices.tell(JOB)).toBe(false);
  expect(Shown.all).toHaveLength(1);
});

test('it says what ended and why, and leads to the job', () => {
  Shown.permission = 'granted';
  const opened: string[] = [];
  const notices = new BrowserNotices(trans, ({ id }) => opened.push(id));
  notices.isOn = true;
  notices.tell(JOB);
  const [shown] = Shown.all;
  expect(shown).toMatchObject({
    title: 'tagger: failed',
    options: { body: 'Cell 6 failed.', tag: 'tagger' }
  });
  shown.onclick();
  expect(opened).toEqual(['tagger']);
  expect(shown.closed).toBe(true);
});
