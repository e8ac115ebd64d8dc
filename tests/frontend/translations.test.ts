/** Every string of the front end exists in English and in Simplified Chinese, with the same fields. */

import { readdirSync, readFileSync } from 'fs';
import { join } from 'path';

import { VERSION } from '../../src/version';

const ROOT = join(__dirname, '..', '..');
const LOCALE = join(ROOT, 'jupyter_paddle_gpu/locale/zh_CN/LC_MESSAGES');
/** The strings of the gettext calls, in single or double quotes. */
const LITERAL = `\\s*('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")\\s*`;
const CALL = new RegExp(`trans\\s*\\.(__|_n|_p)\\((?:${LITERAL})?(?:,${LITERAL})?`, 'gs');

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry =>
    entry.isDirectory()
      ? sources(join(folder, entry.name))
      : /\.tsx?$/.test(entry.name)
        ? [join(folder, entry.name)]
        : []
  );
}

function unquote(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, '$1');
}

const strings = new Map<string, string>();
const plurals = new Set<string>();
const singles = new Set<string>();
const unclear: string[] = [];
for (const file of sources(join(ROOT, 'src'))) {
  for (const [call, method, literal] of readFileSync(file, 'utf8').matchAll(CALL)) {
    if (literal) {
      strings.set(unquote(literal), file);
      if (method === '_n') {
        plurals.add(unquote(literal));
      } else {
        singles.add(unquote(literal));
      }
    } else {
      unclear.push(`${file}: ${call}`);
    }
  }
}
// Titles and descriptions of the settings stand in their schema; `plugin.ts` hands over each of them.
const SCHEMA_SAYS = `${join(ROOT, 'src/plugin.ts')}: trans.__(`;
const schema = JSON.parse(readFileSync(join(ROOT, 'src/schema/plugin.json'), 'utf8'));
const settings = Object.values<Record<string, string>>(schema.properties);
// The schema's own title is the extension's name, which is the same in all languages.
for (const text of [
  schema.description,
  ...settings.flatMap(one => [one.title, one.description])
]) {
  strings.set(text, 'src/schema/plugin.json');
  singles.add(text);
}
const catalogue = JSON.parse(
  readFileSync(join(LOCALE, 'jupyter_paddle_gpu.json'), 'utf8')
) as Record<string, string[]>;
const fields = (text: string) => [...new Set(text.match(/%\d/g) ?? [])].sort();

test('strings are literals, so that they can be found', () => {
  expect(strings.size).toBeGreaterThan(100);
  expect(unclear).toEqual([SCHEMA_SAYS]);
});

test('every string has its Chinese', () => {
  const missing = [...strings].filter(([text]) => !catalogue[text]?.[0]);
  expect(missing.map(([text, file]) => `${file}: ${text}`)).toEqual([]);
});

test('a string with plural forms is always asked for as one: else JupyterLab says it in English', () => {
  expect([...plurals].filter(text => singles.has(text))).toEqual([]);
});

test('JupyterLab takes a plural for one only where there are two forms', () => {
  expect([...plurals].filter(text => catalogue[text].length < 2)).toEqual([]);
});

test('the Chinese keeps the fields', () => {
  const wrong = [...strings.keys()].filter(
    text => catalogue[text] && fields(catalogue[text][0]).join() !== fields(text).join()
  );
  expect(wrong).toEqual([]);
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(VERSION).toBe(version);
});
