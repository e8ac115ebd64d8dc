/** Which device the estimate is for, chosen where it is read. */

import * as React from 'react';

import { bytes } from '../../format';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { markedName, shortName } from '../devices/words';

/** Which device the estimate is for. */
export function Target(props: { model: PanelModel; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { model, training } = props;
  const { request } = training;
  const hasGpu = !!model.inventory?.devices.length;
  const value = request.target === 'cpu' ? 'cpu' : (request.device ?? '');
  const choose = (chosen: string) => {
    const change =
      chosen === 'cpu'
        ? { target: 'cpu' as const, device: null }
        : { target: 'gpu' as const, device: chosen || null };
    if (training.estimate) {
      void training.ask(change);
    } else {
      training.prepare(change);
    }
  };
  const best = training.estimate?.target === 'cpu' ? '' : (training.estimate?.device ?? '');
  const here = model.inventory?.devices.find(({ name }) => name === best);
  return (
    <select
      className="jp-PaddleGpu-target"
      aria-label={trans.__('Estimate for')}
      title={trans.__('Estimate for another device')}
      value={value}
      disabled={training.isEstimating}
      onChange={event => choose(event.target.value)}
    >
      <option value="">
        {!request.device && best
          ? trans.__('on %1', here ? markedName(shortName(here), here.checked, trans) : best)
          : hasGpu
            ? trans.__('best device here')
            : trans.__('any GPU')}
      </option>
      <option value="cpu">{trans.__('CPU of this machine')}</option>
      <optgroup label={trans.__('Known accelerators')}>
        {model.accelerators.map(card => (
          <option key={card.name} value={card.name}>
            {`${markedName(card.name, card.checked, trans)} · ${bytes(card.memory_bytes)}`}
          </option>
        ))}
      </optgroup>
    </select>
  );
}
