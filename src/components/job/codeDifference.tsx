/** Where the code of two runs differs, cell by cell. */

import * as React from 'react';

import type { ICellDifference } from '../../domain';
import { useApp } from '../common/context';
import { Muted } from '../common/pieces';

const LOOKS: Record<string, string | undefined> = {
  '+': 'jp-mod-added',
  '-': 'jp-mod-removed',
  '@': 'jp-PaddleGpu-muted'
};

export function CodeDifference({ cells }: { cells: readonly ICellDifference[] }): JSX.Element {
  const { trans } = useApp();
  if (!cells.length) {
    return <Muted as="p">{trans.__('The code is the same.')}</Muted>;
  }
  return (
    <div className="jp-PaddleGpu-difference">
      {cells.map((cell, index) => {
        const name =
          cell.after === null
            ? trans.__('Cell %1 was taken out', (cell.before ?? 0) + 1)
            : cell.before === null
              ? trans.__('Cell %1 is new', cell.after + 1)
              : trans.__('Cell %1', cell.after + 1);
        return (
          <figure key={index}>
            <figcaption className="jp-PaddleGpu-muted">{name}</figcaption>
            <pre aria-label={name} tabIndex={0}>
              {cell.difference.split('\n').map((line, number) => (
                <span key={number} className={LOOKS[line.charAt(0)]}>
                  {line}
                  {'\n'}
                </span>
              ))}
            </pre>
          </figure>
        );
      })}
    </div>
  );
}
