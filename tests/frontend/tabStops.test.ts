/** Tab stops in a group of radios too of which none is checked: a dialog that passed it by would never come back to it. */

import { tabStops } from '../../src/components/common/tabStops';

const RADIOS = '<input type=radio name=a id=one><input type=radio name=a id=two>';

beforeAll(() => {
  // jsdom lays nothing out, and Tab stops only at what is shown.
  Element.prototype.getClientRects = () => [{}] as unknown as DOMRectList;
});

test.each([
  ['none is checked', RADIOS, ['one']],
  ['one is checked', RADIOS.replace('id=two', 'id=two checked'), ['two']],
  ['the first cannot be had', RADIOS.replace('id=one', 'id=one disabled'), ['two']]
])('of radios of which %s', (_, radios, stops) => {
  const form = document.createElement('form');
  form.innerHTML = `${radios}<input type=radio name=b id=other><input id=name><button id=go>`;
  expect(tabStops(form).map(({ id }) => id)).toEqual([...stops, 'other', 'name', 'go']);
});
