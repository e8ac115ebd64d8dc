/** What is read when it is first opened: not before, with its style, and again where the server did not answer. */

import { act } from 'react';
import * as React from 'react';

import { whenOpened } from '../../../src/components/common/opened';
import { draw, press } from '../drawing';

const sheet = () => document.head.querySelector('link');
const told = (event: string) =>
  act(async () => {
    sheet()?.dispatchEvent(new Event(event));
    await new Promise(done => setTimeout(done));
  });

test('it is read when it is drawn, and read again by a click', async () => {
  const answers = [true, false, true];
  const read = jest.fn(async () => {
    if (answers.shift()) {
      return ({ name }: { name: string }) => <b>{name}</b>;
    }
    throw new Error('no answer');
  });
  const Late = whenOpened(read);
  expect(read).not.toHaveBeenCalled();
  expect(sheet()).toBeNull();

  const box = draw(<Late name="panel" />);
  expect(box.textContent).toBe('');
  await told('error');
  expect(box.textContent).toContain('The server does not answer.');
  expect(sheet()).toBeNull();

  press('Try now');
  await told('load');
  expect(box.textContent).toContain('The server does not answer.');

  press('Try now');
  await told('load');
  expect(box.querySelector('b')?.textContent).toBe('panel');
  expect(read).toHaveBeenCalledTimes(3);

  // What is there is drawn at once.
  draw(<Late key="another" name="a second one" />);
  expect(box.querySelector('b')?.textContent).toBe('a second one');
  expect(read).toHaveBeenCalledTimes(3);
});
