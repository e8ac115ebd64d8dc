import { EventStream, type ILogChunk, SILENCE_LONGEST } from '../../src/events';
import { answer, apiOn, job, line, LogServer, settle } from './helpers';

/** A socket whose other end is the test. */
class TestSocket {
  static all: TestSocket[] = [];
  static closed = false;

  constructor(readonly url: string) {
    TestSocket.all.push(this);
    if (TestSocket.closed) {
      setTimeout(() => this.drop(), 10);
    }
  }

  readyState = 0;
  sent: { devices: boolean; jobs: boolean; logs: Record<string, number> }[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.drop();
  }

  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  tell(event: object): void {
    this.onmessage?.({ data: JSON.stringify(event) });
  }

  drop(): void {
    this.readyState = 3;
    this.onclose?.();
  }
}

let log: LogServer;
let asked: string[];
let down: boolean;
let status: (path: string) => number;
let told = '';
let stream: EventStream;

beforeEach(() => {
  jest.useFakeTimers();
  TestSocket.all = [];
  TestSocket.closed = false;
  log = new LogServer([line(0), line(1)]);
  asked = [];
  down = false;
  status = () => 200;
  told = '';
  const api = apiOn(
    async url => {
      const path = url.replace(/^.*\/api\//, '').replace(/[?&]\d+$/, '');
      asked.push(path);
      if (down) {
        throw new TypeError('down');
      }
      if (status(path) !== 200) {
        return answer(status(path), told);
      }
      if (path.startsWith('jobs/')) {
        const query = new URL(url).searchParams;
        const page = await log.fetch(Number(query.get('since')), 100);
        return answer(200, JSON.stringify(page));
      }
      return answer(200, path.startsWith('jobs') ? JSON.stringify({ jobs: [job('a')] }) : '{}');
    },
    TestSocket as unknown as typeof WebSocket
  );
  stream = new EventStream(api);
});

afterEach(() => {
  stream.dispose();
  jest.useRealTimers();
});

async function pass(milliseconds: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(milliseconds);
  await settle();
}

test('nothing is asked while nobody watches', async () => {
  await pass(10_000);
  expect(TestSocket.all).toEqual([]);
  expect(asked).toEqual([]);
  expect(stream.connection).toBe('idle');
});

test('one socket carries all that is watched', async () => {
  stream.watch('devices');
  stream.watch('jobs');
  stream.watchLog('a', () => 7);
  await pass(0);
  expect(TestSocket.all.length).toBe(1);
  TestSocket.all[0].open();
  expect(stream.connection).toBe('socket');
  expect(TestSocket.all[0].sent).toEqual([{ devices: true, jobs: true, logs: { a: 7 } }]);
});

test('events are passed on, noise is not', async () => {
  stream.watch('jobs');
  await pass(0);
  const socket = TestSocket.all[0];
  socket.open();
  const jobs: string[] = [];
  const chunks: ILogChunk[] = [];
  stream.jobChanged.connect((_, { id }) => jobs.push(id));
  stream.logReceived.connect((_, chunk) => chunks.push(chunk));
  socket.tell({ type: 'job', job: job('b') });
  socket.tell({ type: 'log', id: 'b', lines: [line(0)], next: 1, ended: false });
  socket.tell({ type: 'something new' });
  socket.onmessage?.({ data: 'no JSON' });
  expect(jobs).toEqual(['b']);
  expect(chunks.map(({ next }) => next)).toEqual([1]);
});

test('after a break the log goes on at the reader’s cursor', async () => {
  let cursor = 0;
  stream.watchLog('a', () => cursor);
  await pass(0);
  TestSocket.all[0].open();
  cursor = 42;
  TestSocket.all[0].drop();
  expect(stream.connection).toBe('polling');
  await pass(3_000);
  expect(TestSocket.all.length).toBe(2);
  TestSocket.all[1].open();
  expect(TestSocket.all[1].sent[0].logs).toEqual({ a: 42 });
  expect(stream.connection).toBe('socket');
});

test('where sockets are closed, polling brings jobs and logs, and tries go on ever more seldom', async () => {
  TestSocket.closed = true;
  let cursor = 0;
  const lines: number[] = [];
  stream.logReceived.connect((_, chunk) => {
    lines.push(...chunk.lines.map(({ n }) => n));
    cursor = chunk.next;
  });
  stream.watch('jobs');
  stream.watchLog('a', () => cursor);
  await pass(100);
  expect(stream.connection).toBe('polling');
  await pass(2_500);
  log.lines.push(line(2));
  await pass(2_500);
  expect(lines).toEqual([0, 1, 2]);
  expect(asked.filter(path => path === 'jobs').length).toBeGreaterThanOrEqual(2);
  await pass(120_000);
  expect(TestSocket.all.length).toBeLessThan(12);
});

test('a server that is away is told, and its return as well', async () => {
  stream.watch('jobs');
  await pass(0);
  TestSocket.all[0].open();
  TestSocket.closed = true;
  down = true;
  TestSocket.all[0].drop();
  await pass(5_000);
  expect(stream.connection).toBe('offline');
  down = false;
  TestSocket.closed = false;
  await pass(60_000);
  TestSocket.all[TestSocket.all.length - 1].open();
  expect(stream.connection).toBe('socket');
});

test('the last one to leave closes the socket', async () => {
  const watch = stream.watch('devices');
  await pass(0);
  TestSocket.all[0].open();
  watch.dispose();
  await pass(0);
  expect(TestSocket.all[0].readyState).toBe(3);
  expect(stream.connection).toBe('idle');
  asked.length = 0;
  await pass(60_000);
  expect(asked).toEqual([]);
});

test('a hidden page listens to the ends of jobs only', async () => {
  stream.watch('devices');
  stream.watch('jobs');
  stream.watchLog('a', () => 3);
  await pass(0);
  const socket = TestSocket.all[0];
  socket.open();
  const hidden = jest.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(socket.sent[socket.sent.length - 1]).toEqual({ devices: false, jobs: true, logs: {} });
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(socket.sent[socket.sent.length - 1]).toEqual({
    devices: true,
    jobs: true,
    logs: { a: 3 }
  });
  hidden.mockRestore();
});

test('a socket that says nothing for long is given up for a new one', async () => {
  stream.watch('jobs');
  await pass(0);
  const [socket] = TestSocket.all;
  socket.open();
  for (let i = 0; i < 6; i++) {
    await pass(SILENCE_LONGEST / 3);
    socket.tell({ type: 'alive' });
  }
  expect(TestSocket.all.length).toBe(1);
  await pass(SILENCE_LONGEST + 20_000);
  expect(socket.readyState).toBe(3);
  expect(TestSocket.all.length).toBe(2);
});

test('a socket that never opens is given up as well', async () => {
  stream.watch('jobs');
  await pass(SILENCE_LONGEST + 20_000);
  expect(TestSocket.all.length).toBe(2);
  expect(asked).toContain('jobs');
});

test('as soon as the server answers again, a socket is tried', async () => {
  stream.watch('jobs');
  TestSocket.closed = true;
  down = true;
  await pass(300_000);
  expect(stream.connection).toBe('offline');
  down = false;
  TestSocket.closed = false;
  const before = TestSocket.all.length;
  await pass(16_000);
  expect(TestSocket.all.length).toBe(before + 1);
});

test('a log that is gone does not make the server look away', async () => {
  TestSocket.closed = true;
  status = path => (path.includes('log') ? 404 : 200);
  let lists = 0;
  stream.jobsListed.connect(() => lists++);
  stream.watch('jobs');
  stream.watchLog('gone', () => 0);
  await pass(30_000);
  expect(stream.connection).toBe('polling');
  expect(lists).toBeGreaterThan(5);
});

test('a server that wants a login is told from one that is away', async () => {
  TestSocket.closed = true;
  status = () => 403;
  stream.watch('jobs');
  await pass(10_000);
  expect(stream.connection).toBe('refused');
  status = () => 200;
  await pass(30_000);
  expect(stream.connection).toBe('polling');
});

test('what the server itself says is wrong is told in its words', async () => {
  TestSocket.closed = true;
  status = () => 503;
  stream.watch('jobs');
  await pass(10_000);
  expect(stream.connection).toBe('offline');
  expect(stream.problem).toBeNull();
  told = JSON.stringify({ code: 'policy_wrong', message: 'The policy is wrong.', hint: '' });
  await pass(60_000);
  expect(stream.problem?.message).toBe('The policy is wrong.');
});

test('a page that is looked at again asks at once', async () => {
  TestSocket.closed = true;
  down = true;
  stream.watch('jobs');
  await pass(200_000);
  const before = TestSocket.all.length;
  asked.length = 0;
  document.dispatchEvent(new Event('visibilitychange'));
  await pass(1);
  expect(TestSocket.all.length).toBe(before + 1);
  expect(asked).toContain('jobs');
});
