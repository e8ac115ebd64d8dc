/** Devices, chosen by a click on their bars; the best that fits, or the CPU. */

import * as React from 'react';

import type { IDevice, IEngineFeatures } from '../../domain';
import { bytes } from '../../format';
import type { IChoice } from '../../models/submit/choice';
import type { PanelModel } from '../../models/panel';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Busy, Muted } from '../common/pieces';
import { MemoryBar } from '../devices/device';
import { Unchecked } from '../devices/unchecked';
import { deviceName, shortName } from '../devices/words';

export function DeviceChoice(props: {
  model: PanelModel;
  training: Training;
  engine?: IEngineFeatures;
  choice: IChoice;
  change: (choice: Partial<IChoice>) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { model, training, engine, choice, change } = props;
  const inventory = model.devicesOf(engine);
  const devices = (inventory?.devices ?? []).filter(device => !device.simulated);
  const group = React.useId();
  const place = choice.gpus === 0 ? 'cpu' : choice.deviceIds.length ? 'devices' : 'auto';
  const toggle = (device: IDevice) => {
    const several = engine?.several_devices ?? false;
    const others = several ? choice.deviceIds.filter(id => id !== device.id) : [];
    const deviceIds = choice.deviceIds.includes(device.id) ? others : [...others, device.id];
    change({ deviceIds, gpus: deviceIds.length || null });
  };
  const fixed = engine && (!engine.gpus || engine.assigns_devices);
  return (
    <fieldset>
      <legend>{trans.__('Device')}</legend>
      <label>
        <input
          type="radio"
          name={group}
          checked={place === 'auto'}
          onChange={() => change({ gpus: null, deviceIds: [] })}
        />
        {trans.__('The best that fits')}
      </label>
      <label>
        <input
          type="radio"
          name={group}
          checked={place === 'cpu'}
          onChange={() => change({ gpus: 0, deviceIds: [] })}
        />
        {trans.__('CPU')}
      </label>
      {!inventory && engine?.own_devices && <Busy>{trans.__('Looking for devices…')}</Busy>}
      {devices.map(device => {
        const verdict = training.placement?.verdicts.find(one => one.device_id === device.id);
        const name = deviceName(device, trans);
        const need = verdict?.needed_bytes ?? training.estimate?.peak_bytes ?? null;
        return (
          <label key={device.id} className="jp-PaddleGpu-deviceChoice">
            <span>
              <input
                type="checkbox"
                checked={choice.deviceIds.includes(device.id)}
                disabled={fixed || (!!device.problem && !choice.deviceIds.includes(device.id))}
                onChange={() => toggle(device)}
              />
              {device.problem?.message.startsWith(name) ? '' : `${name} ${shortName(device)}`}
              {device.problem && <Muted>{device.problem.message}</Muted>}
              <Unchecked device={device} />
              {device.memory_total !== null && (
                <Muted>{trans.__('%1 free', bytes(device.memory_free))}</Muted>
              )}
            </span>
            {device.memory_total !== null && (
              <MemoryBar
                device={device}
                total={device.memory_total}
                need={need}
                verdict={verdict}
              />
            )}
          </label>
        );
      })}
      {devices.length > 0 && engine && !engine.gpus && (
        <div className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
          {trans.__('This engine runs on the CPU only; for these devices choose another one.')}
        </div>
      )}
      {devices.length > 0 && engine?.gpus && engine.assigns_devices && (
        <div className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
          {trans.__('This engine gives each job its devices itself.')}
        </div>
      )}
    </fieldset>
  );
}
