/** Who is joined to whom: in a line what NVLink joins, behind it each two devices, as `nvidia-smi topo -m` has them. */

import * as React from 'react';

import type { IDevice, IInventory } from '../../domain';
import { bytes, together } from '../../format';
import { useApp } from '../common/context';
import { deviceName, deviceNumber } from './words';
import { Muted } from '../common/pieces';

type Link = IInventory['links'][number];

/** Of what is no NVLink; those are `NV4` by their number. */
const WORDS: Record<Exclude<Link['joint'], 'nvlink'>, string> = {
  board: 'PSB',
  switch: 'PIX',
  switches: 'PXB',
  host_bridge: 'PHB',
  node: 'NODE',
  system: 'SYS'
};

export function Joints({ inventory }: { inventory: IInventory }): JSX.Element | null {
  const { trans } = useApp();
  const { devices, joined, links } = inventory;
  if (!joined.length) {
    return null;
  }
  const among = devices.filter(({ id }) => links.some(link => link.devices.includes(id)));
  const alike = new Set(among.map(({ kind }) => kind)).size === 1;
  return (
    <details className="jp-PaddleGpu-joints jp-PaddleGpu-small">
      <summary className="jp-PaddleGpu-muted">
        {together(...joined.map(({ message }) => message))}
      </summary>
      {/* Sixteen columns are wider than the panel: whoever has no mouse scrolls them with the arrows. */}
      <div
        className="jp-PaddleGpu-jointsTable"
        role="group"
        aria-label={trans.__('Which card is joined to which')}
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              <td />
              {among.map(device => (
                <th key={device.id} scope="col">
                  {alike ? deviceNumber(device) : deviceName(device, trans)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {among.map(device => (
              <tr key={device.id}>
                <th scope="row">{deviceName(device, trans)}</th>
                {among.map(other => (
                  <Joint key={other.id} link={between(links, device, other)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Muted as="div">
        {trans.__(
          'NV4: four NVLinks. PSB, PIX, PXB, PHB, NODE, SYS: by the bus, the closest first.'
        )}
      </Muted>
    </details>
  );
}

function Joint({ link }: { link: Link | undefined }): JSX.Element {
  if (!link) {
    return <td>–</td>;
  }
  const { joint, lanes, bandwidth } = link;
  return (
    <td
      className={joint === 'nvlink' ? 'jp-mod-fast' : ''}
      title={bandwidth === null ? undefined : `${bytes(bandwidth)}/s`}
    >
      {joint === 'nvlink' ? `NV${lanes ?? ''}` : WORDS[joint]}
    </td>
  );
}

function between(links: readonly Link[], one: IDevice, other: IDevice): Link | undefined {
  return one === other
    ? undefined
    : links.find(({ devices }) => devices.includes(one.id) && devices.includes(other.id));
}
