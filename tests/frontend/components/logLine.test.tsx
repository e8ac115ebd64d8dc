import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

import { highlight } from '../../../src/components/common/logLine';

const drawn = (text: string, word: string) =>
  renderToStaticMarkup(<>{highlight(text, word)}</>);

test('each place of the word is marked, case aside', () => {
  expect(drawn('Loss 0.4, val_loss 0.5', 'loss')).toBe(
    '<mark>Loss</mark> 0.4, val_<mark>loss</mark> 0.5'
  );
  expect(drawn('nothing here', 'loss')).toBe('nothing here');
});

test('a line full of matches is no matter', () => {
  const text = 'x'.repeat(4_000);
  expect(drawn(text, 'x').length).toBe(4_000 * '<mark>x</mark>'.length);
});
