import * as React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

import { highlight, LogText } from '../../../src/components/common/logLine';
import { draw } from '../drawing';
import { line } from '../helpers';

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

test('what ends a sentence is not of an address', () => {
  const box = draw(
    <LogText line={line(0, 'see (http://a.b/c?q=(d)&e), https://f.g/h. 见 https://f.g/i。')} />
  );
  const links = [...box.querySelectorAll('a')].map(link => link.getAttribute('href'));
  expect(links).toEqual(['http://a.b/c?q=(d)&e', 'https://f.g/h', 'https://f.g/i']);
});

test('colours are drawn from the coloured text, addresses are links', () => {
  const box = draw(
    <LogText
      line={line(0, 'see https://example.org/a. now', {
        c: 'see \u001b[31mhttps://example.org/a\u001b[0m. now'
      })}
    />
  );
  expect(box.querySelector('.jp-PaddleGpu-ansi-red a')?.getAttribute('href')).toBe(
    'https://example.org/a'
  );
  expect(box.textContent).toBe('see https://example.org/a. now');
});
