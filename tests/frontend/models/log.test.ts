import { JobLog } from '../../../src/models/job/jobLog';
import { LogStore, PAGE_LINES } from '../../../src/models/job/log';
import { LogSearch } from '../../../src/models/job/search';
import { line, LogServer, settle } from '../helpers';

const many = (count: number) => Array.from({ length: count }, (_, n) => line(n));

/** All rows that are shown now. */
function shown(store: LogStore): (string | null)[] {
  return Array.from({ length: store.rowCount }, (_, row) => store.row(row)?.x ?? null);
}

test('a log is opened at its end and goes on with what is pushed', async () => {
  const server = new LogServer(many(3));
  const store = new LogStore(server.fetch);
  await store.open();
  expect(store.total).toBe(3);
  store.receive([line(3), line(4)], 5, false);
  expect(shown(store)).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4']);
  expect(store.total).toBe(5);
});

test('lines that come twice are shown once', async () => {
  const store = new LogStore(new LogServer(many(3)).fetch);
  await store.open();
  const heard: number[] = [];
  store.appended.connect((_, lines) => heard.push(...lines.map(({ n }) => n)));
  store.receive([line(1), line(2), line(3)], 4, false);
  store.receive([line(2), line(3), line(4)], 5, false);
  expect(shown(store)).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4']);
  expect(heard).toEqual([3, 4]);
});

test('a gap is fetched, so that no line is missing', async () => {
  const server = new LogServer(many(3));
  const store = new LogStore(server.fetch);
  await store.open();
  server.lines.push(line(3), line(4), line(5), line(6));
  store.receive([line(6)], 7, false);
  await settle();
  expect(shown(store)).toEqual(many(7).map(({ x }) => x));
});

test('lines that come while a page is fetched are not lost', async () => {
  const server = new LogServer(many(2));
  const store = new LogStore(server.fetch);
  const opening = store.open();
  server.lines.push(line(2));
  store.receive([line(2)], 3, false);
  await opening;
  await settle();
  expect(shown(store)).toEqual(['line 0', 'line 1', 'line 2']);
});

test('a page that comes in pieces, because its lines are long, is whole in the end', async () => {
  const server = new LogServer(many(PAGE_LINES + 20));
  const bounded = (since: number, limit: number) => server.fetch(since, Math.min(limit, 300));
  const store = new LogStore(bounded);
  await store.open();
  store.ensure(0, PAGE_LINES - 1);
  await settle();
  expect(shown(store)).toEqual(many(PAGE_LINES + 20).map(({ x }) => x));
});

test('an in-place line takes the place of the last one of its stream', async () => {
  const store = new LogStore(
    new LogServer([
      line(0, 'start'),
      line(1, ' 10%', { s: 'stderr' }),
      line(2, 'printed between'),
      line(3, ' 50%', { s: 'stderr', r: true }),
      line(4, '100%', { s: 'stderr', r: true }),
      line(5, 'next bar 1%', { s: 'stderr' })
    ]).fetch
  );
  await store.open();
  expect(shown(store)).toEqual(['start', '100%', 'printed between', 'next bar 1%']);
  store.receive([line(6, 'next bar 9%', { s: 'stderr', r: true })], 7, false);
  expect(shown(store)).toEqual(['start', '100%', 'printed between', 'next bar 9%']);
});

test('an in-place line goes on across pages', async () => {
  const lines = many(PAGE_LINES - 1);
  lines.push(line(PAGE_LINES - 1, '1%'));
  lines.push(line(PAGE_LINES, '2%', { r: true }), line(PAGE_LINES + 1, 'end'));
  const store = new LogStore(new LogServer(lines).fetch);
  await store.open();
  store.ensure(0, PAGE_LINES + 1);
  await settle();
  expect(shown(store).slice(-3)).toEqual([`line ${PAGE_LINES - 2}`, '2%', 'end']);
});

test('of a million lines only the pages that are looked at are fetched', async () => {
  const server = new LogServer(many(1_000_000));
  const store = new LogStore(server.fetch);
  await store.open();
  expect(store.rowCount).toBe(1_000_000);
  expect(store.row(999_999)?.x).toBe('line 999999');
  expect(store.row(500_000)).toBeNull();
  store.ensure(500_000, 500_040);
  await settle();
  expect(store.row(500_000)?.x).toBe('line 500000');
  expect(server.asked.length).toBeLessThan(6);
  expect(await store.rowOf(123_456)).toBe(123_456);
});

test('pages that nobody looks at are let go, the end never', async () => {
  const server = new LogServer(many(200_000));
  const store = new LogStore(server.fetch);
  await store.open();
  for (let page = 0; page < 150; page++) {
    store.ensure(page * PAGE_LINES, page * PAGE_LINES + 10);
    await settle();
  }
  expect(store.row(0)).toBeNull();
  expect(store.row(149_000)?.x).toBe('line 149000');
  expect(store.row(199_999)?.x).toBe('line 199999');
});

test('a failed fetch is told and the next open gets over it', async () => {
  const server = new LogServer(many(2));
  let broken = true;
  const store = new LogStore((since, limit) =>
    broken ? Promise.reject(new Error('no network')) : server.fetch(since, limit)
  );
  await store.open();
  expect(store.error?.message).toBe('no network');
  broken = false;
  await store.open();
  expect(store.error).toBeNull();
  expect(shown(store)).toEqual(['line 0', 'line 1']);
});

test('a search goes through the whole log and around its matches', async () => {
  const server = new LogServer(many(25_000));
  server.lines[17].x = 'Needle one';
  server.lines[24_000].x = 'and a needle more';
  const search = new LogSearch(server.fetch);
  await search.start('needle', 25_000);
  expect(search.matches).toEqual([17, 24_000]);
  expect(search.current).toBe(0);
  search.move(-1);
  expect(search.current).toBe(1);
  search.move(1);
  expect(search.current).toBe(0);
  await search.start('', 25_000);
  expect(search.matches).toEqual([]);
});

test('a search goes on in lines that are written after it, and leads to none of them unasked', async () => {
  jest.useFakeTimers();
  const server = new LogServer(many(20));
  const log = new JobLog(server.fetch, '', () => true);
  await log.lines.open();
  await log.search.start('needle', log.lines.total);
  expect(log.search.matches).toEqual([]);
  const write = async (texts: string[]) => {
    const from = server.lines.length;
    server.lines.push(...texts.map((text, at) => line(from + at, text)));
    log.lines.receive(server.lines.slice(from), server.lines.length, false);
    await jest.advanceTimersByTimeAsync(1_000);
  };
  await write(['a needle', 'none']);
  await write(['none', 'a needle']);
  expect(log.search.matches).toEqual([20, 23]);
  expect(log.search.current).toBe(-1);
  expect(log.search.scanned).toBeNull();
  log.search.move(-1);
  expect(log.search.current).toBe(1);
  await write(['a needle']);
  expect(log.search.matches).toEqual([20, 23, 24]);
  expect(log.search.current).toBe(1);
  // Lines that come while nothing is looked for are asked for by nobody.
  await log.search.start('', log.lines.total);
  const asked = server.asked.length;
  await write(['a needle']);
  expect(server.asked).toHaveLength(asked);
  log.dispose();
  jest.useRealTimers();
});
