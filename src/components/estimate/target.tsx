/** Which device the estimate is for, chosen where it is read. */

import * as React from 'react';

import type { IEstimateRequest } from '../../domain';
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
  const value = request.device ?? request.target ?? '';
  const choose = (chosen: string) => {
    const target = chosen === 'cpu' || chosen === 'gpu' ? chosen : null;
    const change: IEstimateRequest = { target, device: target ? null : chosen || null };
    if (training.estimate) {
      void training.ask(change);
    } else {
      training.prepare(change);
    }
  };
  const { estimate } = training;
  const best = estimate?.target === 'cpu' ? '' : (estimate?.device ?? '');
  const here = model.inventory?.devices.find(({ name }) => name === best);
  /** Without a choice: what a job of it would run on. */
  const usual = () => {
    if (!value && best) {
      const name = here ? shortName(here) : best;
      return trans.__('on %1', markedName(name, estimate?.device_checked ?? true, trans));
    }
    const onCpu = value ? !hasGpu : estimate?.target !== 'gpu';
    return onCpu ? trans.__('CPU, where it would run') : trans.__('best device here');
  };
  return (
    <select
      className="jp-PaddleGpu-target"
      aria-label={trans.__('Estimate for')}
      title={trans.__('Estimate for another device')}
      value={value}
      disabled={training.isEstimating}
      onChange={event => choose(event.target.value)}
    >
      <option value="">{usual()}</option>
      <option value="cpu">{trans.__('CPU of this machine')}</option>
      {!hasGpu && <option value="gpu">{trans.__('any GPU')}</option>}
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
