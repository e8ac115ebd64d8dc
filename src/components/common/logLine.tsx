/** The text of a log line with its terminal colours and, while searching, the word that was found. */

import * as React from 'react';

import type { ILogLine } from '../../domain';
import { parseAnsi } from '../../models/job/ansi';
import { said } from '../../models/job/phrases';
import { useApp } from '../common/context';

/** Characters of one line that are drawn; what a line has beyond is in the downloaded log. */
const LONGEST = 4_000;

export const LogText = React.memo(function LogText(props: {
  line: ILogLine;
  mark?: string;
}): JSX.Element {
  const { trans } = useApp();
  const { line, mark } = props;
  const plain = said(line, trans);
  const whole = plain.length <= LONGEST;
  const text = whole ? (line.c ?? plain) : `${plain.slice(0, LONGEST)}…`;
  return (
    <span className={`jp-PaddleGpu-text jp-mod-${line.s}`}>
      {line.s === 'stderr' && (
        <span
          className="jp-PaddleGpu-stderr"
          title={trans.__('standard error')}
          aria-label={trans.__('standard error')}
        >
          ▎
        </span>
      )}
      {parseAnsi(text).map((piece, index) => (
        <span key={index} className={piece.className || undefined}>
          {mark ? highlight(piece.text, mark) : linked(piece.text)}
        </span>
      ))}
    </span>
  );
});

/** The text with each place of the word marked, case aside. */
export function highlight(text: string, word: string): React.ReactNode {
  const lower = text.toLowerCase();
  const wanted = word.toLowerCase();
  const pieces: React.ReactNode[] = [];
  let end = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, end)) {
    pieces.push(text.slice(end, at), <mark key={at}>{text.slice(at, at + word.length)}</mark>);
    end = at + word.length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

/** What ends a sentence behind an address is none of it. */
const ADDRESS = /(https?:\/\/[^\s"'<>\]]*[^\s"'<>\]).,;:!?，。；：！？）])/;

/** The text with its addresses as links. */
export function linked(text: string): React.ReactNode | React.ReactNode[] {
  if (!text.includes('://')) {
    return text;
  }
  return text.split(ADDRESS).map((part, index) =>
    index % 2 ? (
      <a key={index} href={part} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ) : (
      part
    )
  );
}
