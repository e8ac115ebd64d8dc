/** Inside the step, for those who want to know: operations and traffic, the model's tree, the largest tensors. */

import * as React from 'react';

import type { IAliveTensor, IEstimate } from '../../domain';
import { bytes, count } from '../../format';
import { held, type ILayerNode, layerTree } from '../../models/estimate/layers';
import { Bar, Muted, Name, Space } from '../common/pieces';
import { useApp } from '../common/context';

/** Tensors shown; the rest of what is alive is small beside them. */
const MOST_TENSORS = 8;

export function Inside({ estimate }: { estimate: IEstimate }): JSX.Element | null {
  const { trans } = useApp();
  const { layers } = estimate;
  const root = React.useMemo(() => layerTree(layers), [layers]);
  if (!root && !estimate.flops_per_step) {
    return null;
  }
  return (
    <details className="jp-PaddleGpu-inside">
      <summary>{trans.__('Inside the step')}</summary>
      <Work estimate={estimate} />
      {root && (
        <>
          <h3 aria-level={2}>
            {trans.__('By layer: parameters, and activations alive at the peak')}
          </h3>
          <Layer node={root} whole={Math.max(1, held(root))} open />
        </>
      )}
      <Largest tensors={estimate.alive_at_peak.slice(0, MOST_TENSORS)} />
    </details>
  );
}

/** FLOPs by phase, bytes moved, and their ratio. */
function Work({ estimate }: { estimate: IEstimate }): JSX.Element | null {
  const { trans } = useApp();
  const { flops_per_step, flops_forward, flops_backward, bytes_moved } = estimate;
  if (!flops_per_step) {
    return null;
  }
  const rows: { name: string; value: string; part?: boolean }[] = [
    { name: trans.__('FLOPs of a step'), value: count(flops_per_step) }
  ];
  if (flops_forward && flops_backward) {
    rows.push({ name: trans.__('forward'), value: count(flops_forward), part: true });
    rows.push({ name: trans.__('backward'), value: count(flops_backward), part: true });
    const update = flops_per_step - flops_forward - flops_backward;
    if (update > 0) {
      rows.push({ name: trans.__('update'), value: count(update), part: true });
    }
  }
  if (bytes_moved) {
    rows.push({ name: trans.__('Memory traffic'), value: bytes(bytes_moved) });
  }
  if (estimate.arithmetic_intensity) {
    rows.push({
      name: trans.__('FLOPs for a byte'),
      value: estimate.arithmetic_intensity.toFixed(1)
    });
  }
  return (
    <dl className="jp-PaddleGpu-legend">
      {rows.map(row => (
        <div key={row.name} className={row.part ? 'jp-mod-part' : ''}>
          <dt>{row.name}</dt>
          <dd>{row.value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A layer and, when it is opened, what it is made of. Its children are drawn only then: models have thousands. */
function Layer(props: { node: ILayerNode; whole: number; open?: boolean }): JSX.Element {
  const { node, whole } = props;
  const [open, setOpen] = React.useState(props.open ?? false);
  if (!node.children.length) {
    return (
      <div className="jp-PaddleGpu-layer jp-mod-leaf">
        <LayerRow node={node} whole={whole} />
      </div>
    );
  }
  return (
    <details
      className="jp-PaddleGpu-layer"
      open={open}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        <LayerRow node={node} whole={whole} />
      </summary>
      {open &&
        node.children.map(child => <Layer key={child.path} node={child} whole={whole} />)}
    </details>
  );
}

function LayerRow({ node, whole }: { node: ILayerNode; whole: number }): JSX.Element {
  const { trans } = useApp();
  const title = trans.__(
    'Parameters %1, activations at the peak %2, forward %3 FLOPs',
    bytes(node.parameter_bytes),
    bytes(node.activation_bytes),
    count(node.flops)
  );
  return (
    <span className="jp-PaddleGpu-layerRow" title={title}>
      <span className="jp-PaddleGpu-row">
        <span className="jp-PaddleGpu-layerName">
          <Name text={node.name && `${node.name} `} />
          <Muted>{node.type}</Muted>
        </span>
        <Space />
        <span>{bytes(held(node))}</span>
      </span>
      <Bar
        thin
        label={title}
        parts={[
          { share: (100 * node.parameter_bytes) / whole, look: 'parameters' },
          { share: (100 * node.activation_bytes) / whole, look: 'activations' }
        ]}
      />
    </span>
  );
}

function Largest({ tensors }: { tensors: IAliveTensor[] }): JSX.Element | null {
  const { trans } = useApp();
  if (!tensors.length) {
    return null;
  }
  return (
    <>
      <h3 aria-level={2}>{trans.__('Largest tensors at the peak')}</h3>
      <ul className="jp-PaddleGpu-tensors">
        {tensors.map((tensor, index) => (
          <li key={index} className="jp-PaddleGpu-row">
            <span className="jp-PaddleGpu-layerName" title={tensor.layer}>
              {tensor.op || tensor.kind}{' '}
              <Muted>{tensor.dtype && `${tensor.dtype}[${tensor.shape.join(', ')}]`}</Muted>
            </span>
            <Space />
            <span>{bytes(tensor.bytes)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
