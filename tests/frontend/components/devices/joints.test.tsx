/** Who is joined to whom: a line, and behind it a table. */

import * as React from 'react';

import { Joints } from '../../../../src/components/devices/joints';
import type { IInventory } from '../../../../src/domain';
import { draw } from '../../drawing';

const device = (index: number): object => ({
  id: `GPU-${index}`,
  index,
  kind: 'gpu',
  slice: null
});

function drawn(links: object[], joined: object[]): HTMLElement {
  const inventory = { devices: [0, 1, 2, 3].map(device), links, joined };
  return draw(<Joints inventory={inventory as unknown as IInventory} />);
}

test('each two devices stand in a table behind the line', () => {
  const links = [
    { devices: ['GPU-0', 'GPU-1'], joint: 'nvlink', lanes: 4, bandwidth: 96 * 2 ** 30 },
    { devices: ['GPU-2', 'GPU-0'], joint: 'system', lanes: null, bandwidth: null },
    { devices: ['GPU-1', 'GPU-2'], joint: 'switch', lanes: null, bandwidth: null }
  ];
  const box = drawn(links, [{ message: 'NVLink joins GPU 0 + GPU 1.' }]);
  expect(box.querySelector('summary')?.textContent).toBe('NVLink joins GPU 0 + GPU 1.');
  const rows = [...box.querySelectorAll('tr')].map(row =>
    [...row.children].map(cell => cell.textContent)
  );
  expect(rows).toEqual([
    ['', '0', '1', '2'],
    ['GPU 0', '–', 'NV4', 'SYS'],
    ['GPU 1', 'NV4', '–', 'PIX'],
    ['GPU 2', 'SYS', 'PIX', '–']
  ]);
  expect(box.querySelector('.jp-mod-fast')?.getAttribute('title')).toBe('96.0 GiB/s');
});

test('without NVLink there is no line', () => {
  const links = [
    { devices: ['GPU-0', 'GPU-1'], joint: 'system', lanes: null, bandwidth: null }
  ];
  expect(drawn(links, []).textContent).toBe('');
});
