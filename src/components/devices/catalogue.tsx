/** Known cards that are not here, in one line: on how many it would fit, and the smallest of them. */

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { IVerdict } from '../../domain';
import { bytes } from '../../format';
import { useApp } from '../common/context';
import { Button, Row } from '../common/pieces';
import { Sentence } from './sentence';
import { Unchecked } from './unchecked';
import { markedName } from './words';

export function Catalogue({ verdicts }: { verdicts: readonly IVerdict[] }): JSX.Element {
  const { trans } = useApp();
  const [open, setOpen] = React.useState(false);
  const isIn = ({ fit }: IVerdict) => fit === 'fits' || fit === 'tight';
  const fitting = bySize(verdicts.filter(isIn));
  const others = bySize(verdicts.filter(verdict => !isIn(verdict)));
  // Those that would do come first; where none does, the largest.
  const listed = [...fitting, ...[...others].reverse()];
  const line = !others.length
    ? trans.__('Fits all %1 known cards', verdicts.length)
    : fitting.length
      ? trans.__(
          'Fits %1 of %2 known cards; smallest: %3',
          fitting.length,
          verdicts.length,
          named(fitting[0], trans)
        )
      : trans.__(
          'Fits none of %1 known cards; largest: %2',
          verdicts.length,
          named(listed[0], trans)
        );
  return (
    <div className="jp-PaddleGpu-catalogue">
      <Button
        look="link"
        className="jp-PaddleGpu-fold"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {line} <span aria-hidden="true">{open ? '▾' : '▸'}</span>
      </Button>
      {open && (
        <ul>
          {listed.map(verdict => (
            <li key={verdict.device_id || verdict.device_name} data-fit={verdict.fit}>
              <Row>
                <span className="jp-PaddleGpu-space">
                  {verdict.device_name} <Unchecked device={verdict} />
                </span>
                {verdict.free_bytes !== null && (
                  <span
                    className="jp-PaddleGpu-muted jp-PaddleGpu-figures"
                    title={trans.__('What a training may take of it; the rest is a margin.')}
                  >
                    {bytes(verdict.free_bytes)}
                  </span>
                )}
              </Row>
              <Sentence verdict={verdict} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function named(verdict: IVerdict, trans: TranslationBundle): string {
  const name = markedName(verdict.device_name, verdict.checked, trans);
  return `${name} · ${bytes(verdict.free_bytes)}`;
}

function bySize(verdicts: IVerdict[]): IVerdict[] {
  return [...verdicts].sort((a, b) => (a.free_bytes ?? 0) - (b.free_bytes ?? 0));
}
