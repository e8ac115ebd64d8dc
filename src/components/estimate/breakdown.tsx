/** What the memory is made of: one bar, its largest kinds, and all of them with the model's tree for those who ask. */

import * as React from 'react';

import { type IEstimate, KINDS } from '../../domain';
import { bytes } from '../../format';
import { useApp } from '../common/context';
import { Bar, Button, Row } from '../common/pieces';
import { Inside } from './inside';
import { kindNames } from './words';

/** Kinds that are named before somebody asks for all. */
const NAMED = 3;

export function Breakdown({ estimate }: { estimate: IEstimate }): JSX.Element | null {
  const { trans } = useApp();
  const [all, setAll] = React.useState(false);
  const parts = estimate.breakdown;
  const total = estimate.peak_bytes ?? estimate.allocated_peak_bytes;
  if (!parts || total === null) {
    return null;
  }
  const names = kindNames(trans);
  const shown = KINDS.filter(kind => parts[kind] > 0);
  const largest = [...shown].sort((a, b) => parts[b] - parts[a]);
  return (
    <div className="jp-PaddleGpu-breakdown">
      <Bar
        label={trans.__(
          'What the memory is made of: %1',
          largest.map(kind => `${names[kind]} ${bytes(parts[kind])}`).join(', ')
        )}
        parts={shown.map(kind => ({
          share: (100 * parts[kind]) / total,
          look: kind,
          title: `${names[kind]}: ${bytes(parts[kind])}`
        }))}
      />
      <Row>
        <dl className={`jp-PaddleGpu-legend${all ? '' : ' jp-mod-short'}`}>
          {(all ? largest : largest.slice(0, NAMED)).map(kind => (
            <div key={kind}>
              <dt>
                <i className={`jp-PaddleGpu-fill jp-mod-${kind}`} aria-hidden="true" />
                {names[kind]}
              </dt>
              <dd>{bytes(parts[kind])}</dd>
            </div>
          ))}
        </dl>
        <Button look="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? trans.__('less') : trans.__('all')}
        </Button>
      </Row>
      {all && <Inside estimate={estimate} />}
    </div>
  );
}
