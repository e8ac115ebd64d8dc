import * as React from 'react';

import { focusHeading } from '../../src/components/common/keptFocus';
import { Prose } from '../../src/components/common/pieces';
import { draw } from './drawing';

test.each([
  ['装好 `pip install timm`。', '装好 pip install timm。 Copy'],
  ['Type `pip install timm`: it is short.', 'Type pip install timm: Copy it is short.'],
  ['Type `pip install timm` first.', 'Type pip install timm Copy first.'],
  ['Look at `submit`.', 'Look at submit.'],
  ['In a cell: `%pip install timm`.', 'In a cell: %pip install timm. Copy'],
  ['By `/usr/bin/python3 -m pip list`.', 'By /usr/bin/python3 -m pip list. Copy'],
  ['A list (`0.1, 0.01`) or `batch_size = 64`.', 'A list (0.1, 0.01) or batch_size = 64.'],
  ['Nothing to type.', 'Nothing to type.']
])('the mark behind a command stays with it: %p', (text, shown) => {
  expect(draw(<Prose text={text} />).textContent).toBe(shown);
});

test('the focus that a page is given goes to its heading, any other stays', () => {
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML = '<h1>Jobs</h1><input>';
  page.tabIndex = -1;
  page.focus();
  focusHeading(page);
  expect(document.activeElement).toBe(page.querySelector('h1'));
  page.querySelector('input')?.focus();
  focusHeading(page);
  expect(document.activeElement).toBe(page.querySelector('input'));
  page.remove();
});
