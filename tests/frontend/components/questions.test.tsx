/** An answer that cannot be what is asked for is told where it is typed, and nothing is asked with it. */

import * as React from 'react';
import { act } from 'react';

import { Questions } from '../../../src/components/estimate/questions';
import type { IQuestion, Value } from '../../../src/domain';
import type { Training } from '../../../src/models/estimate/training';
import { draw, press } from '../drawing';

const SIZE: IQuestion = {
  name: 'vocab',
  kind: 'value',
  why: { code: 'unknown_value', message: 'vocab is computed.', hint: '' },
  where: null,
  suggestion: 10000
} as unknown as IQuestion;

const BATCH: IQuestion = { ...SIZE, kind: 'batch', suggestion: 'float32[10,13]' };

/** What is answered where so much is typed and *Use* is pressed, and what the field says. */
function answered(question: IQuestion, typed: string): [Value[], string] {
  const given: Value[] = [];
  const training = {
    facts: { problems: [] },
    factsError: null,
    estimate: { questions: [question], packages: [] },
    request: {},
    isEstimating: false,
    answer: (_: string, value: Value) => given.push(value)
  } as unknown as Training;
  const drawn = draw(<Questions key={typed} training={training} retry={() => undefined} />);
  const field = drawn.querySelector('input');
  act(() => {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    set?.call(field, typed);
    field?.dispatchEvent(new Event('input', { bubbles: true }));
  });
  press('Use');
  return [given, drawn.querySelector('[role=alert]')?.textContent ?? ''];
}

test.each(['abc', '-5', '0'])('a size is not “%s”', typed => {
  expect(answered(SIZE, typed)).toEqual([[], 'A number above 0 is wanted here.']);
});

test('a size is sent, and where nothing is suggested whatever is typed', () => {
  expect(answered(SIZE, '512')).toEqual([[512], '']);
  expect(answered({ ...SIZE, suggestion: null }, 'abc')).toEqual([['abc'], '']);
});

test.each(['nonsense', '10,3,224', 'float32', 'float33[2]', 'float32[2] x'])(
  'a batch does not look like “%s”',
  typed => {
    const [given, alert] = answered(BATCH, typed);
    expect(given).toEqual([]);
    expect(alert).toBe('Write it as float32[32,3,224,224] int64[32,1]');
  }
);

test.each([
  'float32[10,13] float32[10,1]',
  'ids: int64[8,128], mask=bool [8]',
  ' int64[] ',
  'image.pixels: float32[8,3,32,32] label: int64[8]'
])('a batch may look like “%s”', typed => {
  expect(answered(BATCH, typed)).toEqual([[typed.trim()], '']);
});

test('a field nobody has typed in follows its suggestion, one with an answer keeps that', () => {
  const given = (suggestion: Value): Training =>
    ({
      facts: { problems: [] },
      estimate: { questions: [{ ...SIZE, suggestion }], packages: [] },
      request: {}
    }) as unknown as Training;
  const page = (suggestion: Value) => (
    <Questions training={given(suggestion)} retry={() => undefined} />
  );
  const drawn = draw(page(10000));
  const field = () => drawn.querySelector('input') as HTMLInputElement;
  expect(field().value).toBe('10000');
  expect(draw(page(37)).querySelector('input')?.value).toBe('37');
  act(() => {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    set?.call(field(), '5');
    field().dispatchEvent(new Event('input', { bubbles: true }));
  });
  draw(page(40));
  expect(field().value).toBe('5');
});
