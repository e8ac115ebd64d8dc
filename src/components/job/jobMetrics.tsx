/** Curves of what a training prints: loss, accuracy and their kin, one small picture each. */

import * as React from 'react';

import { clock, metric } from '../../format';
import type { JobView } from '../../models/jobView';
import type { IPoint } from '../../models/metrics';
import { Chart, least, most } from '../common/chart';
import { Busy } from '../common/pieces';
import { useApp, useSignal } from '../common/context';

export function JobMetrics({ model }: { model: JobView }): JSX.Element {
  const { trans } = useApp();
  useSignal(model.changed);
  useSignal(model.log.changed);
  React.useEffect(() => {
    void model.readCurves();
  }, [model]);
  const curves = [...model.metrics.curves].filter(([, points]) => points.length > 1);
  if (!curves.length) {
    return model.isScanning ? (
      <Busy>{trans.__('Reading the log…')}</Busy>
    ) : (
      <p className="jp-PaddleGpu-empty jp-PaddleGpu-muted">
        {trans.__(
          'No curves yet. Values that the training prints, such as “loss: 0.41”, are drawn here.'
        )}
      </p>
    );
  }
  return (
    <div className="jp-PaddleGpu-curves">
      {curves.map(([name, points]) => (
        <Curve key={name} name={name} points={points} />
      ))}
    </div>
  );
}

function Curve({ name, points }: { name: string; points: IPoint[] }): JSX.Element {
  const { trans } = useApp();
  const values = points.map(point => point.value);
  const [low, high] = [metric(least(values)), metric(most(values))];
  return (
    <Chart
      name={name}
      points={points.map(({ value }, index) => ({ x: index, value }))}
      label={trans.__(
        '%1: last %2, lowest %3, highest %4',
        name,
        metric(values[values.length - 1]),
        low,
        high
      )}
      format={metric}
      at={index => clock(points[index].time)}
      left={trans.__('lowest %1', low)}
      right={trans.__('highest %1', high)}
    />
  );
}
