/** Where it fits: this machine's devices as they are now, the machine itself, and known cards in one line. */

import * as React from 'react';

import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Info, NO_BREAK } from '../common/info';
import { Busy, Section } from '../common/pieces';
import { Cards } from './cards';
import { Catalogue } from './catalogue';
import { Device, Host } from './device';
import { Joints } from './joints';

export function Fits(props: { model: PanelModel; training: Training | null }): JSX.Element {
  const { trans } = useApp();
  const { model, training } = props;
  const inventory = training ? model.devicesOf(model.engineOf(training)) : model.inventory;
  const placement = training?.placement ?? null;
  const estimate = training?.estimate ?? null;
  const figure = estimate?.status === 'ok' && !!placement?.catalogue.length;
  return (
    <Section title={trans.__('Devices')}>
      {!inventory && <Busy>{trans.__('Looking for devices…')}</Busy>}
      {inventory && (
        <Cards
          devices={inventory.devices}
          placement={placement}
          draw={(device, follows) => (
            <Device
              key={device.id}
              device={device}
              follows={follows}
              model={model}
              estimate={estimate}
              verdict={placement?.verdicts.find(verdict => verdict.device_id === device.id)}
              score={placement?.table.find(row => row.device_id === device.id)}
              chosen={!!placement?.device_ids.includes(device.id)}
            />
          )}
        />
      )}
      {inventory && <Joints inventory={inventory} />}
      {model.inventory && (
        <Host
          host={model.inventory.host}
          estimate={estimate}
          besides={!!inventory?.devices.length}
        />
      )}
      {inventory?.problems.map((problem, index) => (
        <div key={index} className="jp-PaddleGpu-small" role="note" data-code={problem.code}>
          {problem.message}
          {NO_BREAK}
          {problem.hint && <Info about={problem.message}>{problem.hint}</Info>}
        </div>
      ))}
      {figure && placement && <Catalogue verdicts={placement.catalogue} />}
    </Section>
  );
}
