import * as React from 'react';
import { act } from 'react';

import { LogView } from '../../../src/components/job/logView';
import type { JobView } from '../../../src/models/job/jobView';
import { LogStore } from '../../../src/models/job/log';
import { LogSearch } from '../../../src/models/job/search';
import { draw } from '../drawing';
import { line, LogServer } from '../helpers';

test('a log is searched as one types, once the keys rest; Enter goes to the next match', async () => {
  jest.useFakeTimers();
  const server = new LogServer(Array.from({ length: 300 }, (_, n) => line(n)));
  const log = new LogStore(server.fetch);
  const search = new LogSearch(server.fetch);
  const box = draw(
    <LogView
      model={{ log, search, figures: [], job: null } as unknown as JobView}
      openPlace={() => undefined}
      openFile={() => undefined}
    />
  );
  await act(() => log.open());
  const field = box.querySelector('input[type=search]') as HTMLInputElement;
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
  const type = async (text: string, rest: number) => {
    act(() => {
      write?.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await act(() => jest.advanceTimersByTimeAsync(rest));
  };
  const said = () => box.querySelector('[role=search] [role=status]')?.textContent;
  const asked = server.asked.length;
  await type('2', 50);
  await type('29', 50);
  expect(said()).toBeUndefined();
  expect(server.asked).toHaveLength(asked);
  await type('299', 1_000);
  expect(said()).toBe('1 of 1');
  await type('29', 1_000);
  expect(said()).toBe('1 of 13');
  await act(async () => {
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await jest.advanceTimersByTimeAsync(100);
  });
  expect(said()).toBe('2 of 13');
  await type('', 1_000);
  expect(said()).toBeUndefined();
  jest.useRealTimers();
});
