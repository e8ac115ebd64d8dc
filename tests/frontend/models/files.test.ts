import { filePlace } from '../../../src/models/job/files';

const NOTEBOOK = '/home/me/book/train.ipynb';

test.each([
  ['  File "/home/me/book/helper.py", line 6, in outer', { file: 'helper.py', line: 6 }],
  [
    'File /home/me/book/net/blocks.py:12, in forward(self)',
    { file: 'net/blocks.py', line: 12 }
  ],
  // IPython shortens the home of whoever runs it.
  ['File ~/book/helper.py:6, in outer(x)', { file: 'helper.py', line: 6 }],
  ['File ~/book/net/blocks.py:12', { file: 'net/blocks.py', line: 12 }],
  ['File ~/elsewhere/helper.py:6', null],
  ['File /usr/lib/python3.11/json/decoder.py:355', null],
  ['File "/home/me/book/.venv/lib/python3.11/site-packages/paddle/a.py", line 3', null],
  ['  return helper.py:3', null],
  ['Cell In[4], line 2', null]
])('%s', (text, place) => {
  expect(filePlace(text, NOTEBOOK)).toEqual(place);
});

test('a notebook in the home itself', () => {
  expect(filePlace('File ~/net/blocks.py:12', '/home/me/train.ipynb')).toEqual({
    file: 'net/blocks.py',
    line: 12
  });
});
