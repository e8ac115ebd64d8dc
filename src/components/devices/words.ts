/** Devices in words: what a card is called, how busy it is, how long a step takes. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDevice } from '../../domain';
import { bytes, duration } from '../../format';

/** `GPU 1`, `NPU 1` by its maker's word; a simulated card beside a real one of the same number is told apart. */
export function deviceName(device: IDevice, trans: TranslationBundle): string {
  return device.simulated
    ? trans.__('Simulated %1', deviceNumber(device))
    : `${device.kind.toUpperCase()} ${deviceNumber(device)}`;
}

/** `4`; of a slice of a card (MIG) `4:1`, as NVIDIA's tools write it. */
export function deviceNumber({ index, slice }: IDevice): string {
  return slice === null || slice === undefined ? String(index) : `${index}:${slice}`;
}

/** `GPU 0, GPU 1` of those with these ids. */
export function deviceNames(
  devices: readonly IDevice[],
  ids: readonly string[],
  trans: TranslationBundle
): string {
  return devices
    .filter(({ id }) => ids.includes(id))
    .map(device => deviceName(device, trans))
    .join(', ');
}

/** A device's name without what every card of its maker is called. */
export function shortName(device: IDevice): string {
  return device.short_name || device.name;
}

/** A name where there is room for words alone: that it was not checked on hardware stands behind it. */
export function markedName(name: string, checked: boolean, trans: TranslationBundle): string {
  return checked ? name : `${name} (${trans.__('not checked on hardware')})`;
}

/** `97 % · 61 °C · 284 W`, as far as the device tells. */
export function figures(device: IDevice): string {
  return [
    device.utilization === null ? '' : `${device.utilization} %`,
    device.temperature === null ? '' : `${device.temperature} °C`,
    device.power === null ? '' : `${Math.round(device.power)} W`
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What else a card tells, a line each. */
export function details(device: IDevice, trans: TranslationBundle): string {
  const own = device.details;
  if (!own) {
    return '';
  }
  const pair = (now: unknown, most: unknown, unit = '') =>
    (now ?? most ?? null) === null ? null : `${now ?? '–'} / ${most ?? '–'}${unit}`;
  const link = (generation: number | null, width: number | null) =>
    generation === null ? null : `${generation} x${width ?? '–'}`;
  const yes = (is: boolean | null) =>
    is === null ? null : is ? trans.__('yes') : trans.__('no');
  const rows: [string, string | null][] = [
    [trans.__('Reserved'), own.memory_reserved === null ? null : bytes(own.memory_reserved)],
    [trans.__('Clock'), pair(own.clock, own.clock_max, ' MHz')],
    [
      trans.__('Held back by'),
      own.throttling && (own.throttling.join(', ') || trans.__('nothing'))
    ],
    [trans.__('Memory errors'), pair(own.ecc_corrected, own.ecc_uncorrected)],
    [
      'PCIe',
      pair(
        link(own.pcie_generation, own.pcie_width),
        link(own.pcie_generation_max, own.pcie_width_max)
      )
    ],
    [trans.__('Fans'), own.fans.length ? `${own.fans.join(' / ')} %` : null],
    [trans.__('Encoder'), pair(own.encoder, own.decoder, ' %')],
    [trans.__('Compute mode'), own.compute_mode],
    [trans.__('Persistence'), yes(own.persistence)],
    ['MIG', yes(own.mig)]
  ];
  return rows
    .map(([what, value]) => `${what}: ${value ?? trans.__('not available')}`)
    .join('\n');
}

export function stepTime(seconds: number, trans: TranslationBundle): string {
  return seconds < 1
    ? trans.__('%1 ms', Number((1000 * seconds).toPrecision(2)))
    : duration(seconds, trans);
}
