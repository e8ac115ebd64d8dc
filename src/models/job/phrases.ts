/** Sentences of ours in a log, in the reader's language. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ILogLine } from '../../domain';

/** The text of a line; a sentence of ours translated, with its fields filled. */
export function said(line: ILogLine, trans: TranslationBundle): string {
  const phrase = line.m;
  if (!phrase) {
    return line.x;
  }
  // eslint-disable-next-line jupyter/no-dynamic-translation -- the runner wrote it; the server's catalogue has it
  const template = trans.gettext(phrase.text);
  return template === phrase.text
    ? line.x
    : template.replace(/\{(\w+)\}/g, (field, name: string) =>
        String(phrase.params?.[name] ?? field)
      );
}
