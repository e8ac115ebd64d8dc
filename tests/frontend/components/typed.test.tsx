/** What is typed stands in its field, although what the field is drawn from follows later. */

import * as React from 'react';
import { act } from 'react';

import { Typed } from '../../../src/components/common/typed';
import { draw } from '../drawing';

test('keys that come before the next drawing are all kept', () => {
  let kept = '64';
  const field = () => <Typed value={kept} take={text => (kept = text)} />;
  const node = draw(field());
  const input = node.querySelector('input') as HTMLInputElement;
  // As a browser does: each key is put behind what stands in the field now.
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
  const type = (text: string) =>
    act(() => {
      setter?.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    });
  type('1');
  for (const key of '28') {
    type(input.value + key);
  }
  expect(input.value).toBe('128');
  expect(kept).toBe('128');

  // Drawn from elsewhere it takes what stands there.
  draw(field());
  kept = '';
  draw(field());
  expect(input.value).toBe('');
});
