/** Jobs side by side: curves laid over each other, a table of what differs, the code of two. */

import * as React from 'react';

import { bytes, metric, stopwatch, together } from '../../format';
import {
  comparedCharts,
  comparedMemory,
  comparedRows,
  type Comparison as Model,
  shortNames
} from '../../models/jobs/comparison';
import { comparisonTitle } from '../../models/jobs/jobsPage';
import { BYTE_STEPS, CLOCK_STEPS, LineChart } from '../../plots';
import { useApp, useSignal } from '../common/context';
import { Busy, Button, Muted, Space } from '../common/pieces';
import { WideTable } from '../common/wideTable';
import { Card } from '../job/card';
import { CodeDifference } from '../job/codeDifference';
import { Legend } from '../job/metricCards';

/** Pixels that stay free above the heading, so that nothing of it goes when a wider window draws the page anew. */
const ABOVE = 16;
/** Charts that are drawn; a training that prints more is looked at on its own page. */
const CHARTS = 5;

export function Comparison(props: { model: Model; close: () => void }): JSX.Element {
  const { trans, language, engineTitle } = useApp();
  const { model, close } = props;
  useSignal(model.changed);
  React.useEffect(() => {
    const look = model.look();
    return () => look.dispose();
  }, [model]);
  const heading = React.useRef<HTMLHeadingElement>(null);
  const { jobs, code, codeError, isRead } = model;
  React.useEffect(() => {
    heading.current?.focus({ preventScroll: true });
  }, [model]);
  // Once more when the curves are there: before, it is too short to be scrolled to the top.
  React.useEffect(() => {
    if (heading.current) {
      // Below the page's head, which stays in view and has as many lines as the window is narrow.
      const head = heading.current
        .closest('.jp-PaddleGpu-jobsPage')
        ?.querySelector<HTMLElement>('.jp-PaddleGpu-jobsHead');
      const bar = head?.firstElementChild as HTMLElement | null | undefined; // all that stays in a low window
      const height = head?.offsetHeight || bar?.offsetHeight || 0;
      heading.current.style.scrollMarginTop = `${height + ABOVE}px`;
      heading.current.scrollIntoView({ block: 'start' });
    }
  }, [model, isRead]);
  const names = shortNames(jobs, trans);
  const charts = React.useMemo(
    () => comparedCharts(jobs, names, id => model.metrics(id)).slice(0, CHARTS),
    [model, model.version]
  );
  const memory = React.useMemo(
    () => comparedMemory(jobs, names, id => model.statistics(id)),
    [model, model.version]
  );
  const rows = comparedRows(jobs, trans, engineTitle);
  const legend = names.map(name => ({ name, dashed: false }));
  return (
    <section className="jp-PaddleGpu-comparison" aria-label={trans.__('Comparison')}>
      <header className="jp-PaddleGpu-row jp-PaddleGpu-wrap">
        <h2 ref={heading} tabIndex={-1}>
          {comparisonTitle(jobs, trans, language)}
        </h2>
        <Space />
        <Button look="link" onClick={close}>
          {trans.__('Close')}
        </Button>
      </header>
      {!isRead && <Busy>{trans.__('Reading the curves…')}</Busy>}
      <Legend names={legend} />
      <div className="jp-PaddleGpu-cards">
        {charts.map(({ name, over, series }) => (
          <Card
            key={name}
            title={name}
            aside={
              <Muted>
                {over === 'epochs' ? trans.__('over epochs') : trans.__('over time')}
              </Muted>
            }
          >
            <LineChart
              label={trans.__('%1 of %2 jobs', name, series.length)}
              series={series}
              sync={`compare ${over}`}
              stepsX={over === 'epochs' ? undefined : CLOCK_STEPS}
              formatX={over === 'epochs' ? metric : stopwatch}
              formatY={metric}
            />
          </Card>
        ))}
        {memory.length > 0 && (
          <Card title={trans.__('Memory')} aside={<Muted>{trans.__('over time')}</Muted>}>
            <LineChart
              label={trans.__('Memory of %1 jobs over time', memory.length)}
              series={memory}
              sync="compare seconds"
              low={0}
              stepsX={CLOCK_STEPS}
              stepsY={BYTE_STEPS}
              formatX={stopwatch}
              formatY={bytes}
            />
          </Card>
        )}
      </div>
      <WideTable
        label={trans.__('What differs')}
        columns={[trans.__('What differs'), ...names]}
      >
        {rows.map(row => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            {row.values.map((value, index) => (
              <td key={index}>{value}</td>
            ))}
          </tr>
        ))}
      </WideTable>
      {jobs.length === 2 && (
        <>
          <h3>{trans.__('Code')}</h3>
          {codeError ? (
            <p role="alert">{together(codeError.message, codeError.hint)}</p>
          ) : code ? (
            <CodeDifference cells={code.code} />
          ) : (
            <Busy>{trans.__('Comparing…')}</Busy>
          )}
        </>
      )}
    </section>
  );
}
