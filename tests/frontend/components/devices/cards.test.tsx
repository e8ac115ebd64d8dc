/** Many devices: which of them stand there, and which are folded. */

import * as React from 'react';
import { act } from 'react';

import { Cards, MOST_SHOWN } from '../../../../src/components/devices/cards';
import type { IDevice, IPlacement } from '../../../../src/domain';
import { draw } from '../../drawing';

const device = (index: number, more: object = {}): IDevice =>
  ({
    id: `GPU-${index}`,
    name: 'T4',
    holder: null,
    sharers: [],
    problem: null,
    ...more
  }) as unknown as IDevice;

function shown(
  devices: IDevice[],
  placement: object | null
): { box: HTMLElement; ids: string[] } {
  const box = draw(
    <Cards
      devices={devices}
      placement={placement as IPlacement | null}
      draw={({ id }, follows) => (
        <i key={id} data-follows={follows}>
          {id}
        </i>
      )}
    />
  );
  return { box, ids: [...box.querySelectorAll('i')].map(one => one.textContent ?? '') };
}

test('a few stand there all, and the name of a model once', () => {
  const few = Array.from({ length: MOST_SHOWN + 1 }, (_, index) => device(index));
  const { box, ids } = shown(few, null);
  expect(ids).toHaveLength(few.length);
  expect(box.querySelector('button')).toBeNull();
  expect([...box.querySelectorAll('[data-follows=true]')]).toHaveLength(few.length - 1);
});

test('of many the chosen one, one with a job of mine and those that fit; the others at a click', () => {
  const many = Array.from({ length: 16 }, (_, index) =>
    device(index, {
      ...(index === 9 ? { holder: { job: 'a', owner: 'me', name: 'mine', bytes: null } } : {}),
      ...(index === 1 ? { problem: { code: 'card_broken', message: '', hint: '' } } : {})
    })
  );
  const verdicts = many.map(({ id }, index) => ({
    device_id: id,
    fit: [12, 13, 14, 15].includes(index) ? 'fits' : 'short'
  }));
  const table = [{ device_id: 'GPU-13', ruled_out: { code: 'hot' } }];
  const { box, ids } = shown(many, { device_ids: ['GPU-15'], verdicts, table });
  expect(ids).toEqual(['GPU-9', 'GPU-12', 'GPU-14', 'GPU-15']);
  const more = box.querySelector('button') as HTMLButtonElement;
  expect(more.textContent).toContain('12 more');
  act(() => more.click());
  expect(box.querySelectorAll('i')).toHaveLength(16);
  expect(more.textContent).toContain('Fewer devices');
});
