/** Of makers whose devices nobody has seen yet: what is known of them is from documents. */

import * as React from 'react';

import { useApp } from '../common/context';

/** Stands behind the name of a device, wherever one stands. */
export function Unchecked({ device }: { device: { checked: boolean } }): JSX.Element | null {
  const { trans } = useApp();
  return device.checked ? null : (
    <span
      className="jp-PaddleGpu-tag jp-PaddleGpu-unchecked"
      title={trans.__(
        'What is known of such devices is from documents: nobody has checked it on the hardware yet.'
      )}
    >
      {trans.__('not checked on hardware')}
    </span>
  );
}
