/** The devices of a machine: all of a few, of many those that matter, with the others behind a line. */

import * as React from 'react';

import type { IDevice, IPlacement } from '../../domain';
import { useApp } from '../common/context';
import { Button } from '../common/pieces';

/** So many stand there at most while the others are folded. */
export const MOST_SHOWN = 4;

export function Cards(props: {
  devices: readonly IDevice[];
  placement: IPlacement | null;
  draw: (device: IDevice, follows: boolean) => JSX.Element;
}): JSX.Element {
  const { trans } = useApp();
  const [open, setOpen] = React.useState(false);
  const { devices, placement, draw } = props;
  const shown = open ? devices : thatMatter(devices, placement);
  const folded = devices.length - shown.length;
  const fitting = devices.filter(
    device => !shown.includes(device) && rank(device, placement) <= FITS
  ).length;
  return (
    <>
      {shown.map((device, index) => draw(device, device.name === shown[index - 1]?.name))}
      {(folded > 0 || open) && (
        <Button
          look="link"
          className="jp-PaddleGpu-fold"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open
            ? trans.__('Fewer devices')
            : fitting
              ? trans.__('%1 more, %2 of them would do', folded, fitting)
              : trans._n('%1 more', '%1 more', folded)}{' '}
          <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        </Button>
      )}
    </>
  );
}

/** Of many: where the job would run, what one's own jobs have, then those that fit; in the machine's order. */
function thatMatter(
  devices: readonly IDevice[],
  placement: IPlacement | null
): readonly IDevice[] {
  if (devices.length <= MOST_SHOWN + 1) {
    return devices; // a line that hides one card takes as much room
  }
  const first = [...devices]
    .sort((a, b) => rank(a, placement) - rank(b, placement))
    .slice(0, MOST_SHOWN);
  return devices.filter(device => first.includes(device));
}

const FITS = 3;

function rank(device: IDevice, placement: IPlacement | null): number {
  if (placement?.device_ids.includes(device.id)) {
    return 0;
  }
  if (device.holder?.name || device.sharers.some(({ name }) => name)) {
    return 1;
  }
  const verdict = placement?.verdicts.find(({ device_id }) => device_id === device.id);
  const against = placement?.table.find(({ device_id }) => device_id === device.id)?.ruled_out;
  const fits = verdict?.fit === 'fits' || verdict?.fit === 'tight';
  return fits && !against ? FITS : device.problem ? 6 : verdict && !fits ? 5 : 4;
}
