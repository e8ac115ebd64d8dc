/** The pictures that the notebook has drawn; one is enlarged by a click and made small again by Escape. */

import * as React from 'react';

import type { IFigure, IJob } from '../../domain';
import type { JobView } from '../../models/job/jobView';
import { useApp } from '../common/context';
import { Card } from './card';

export function Figures({ model, job }: { model: JobView; job: IJob }): JSX.Element | null {
  const { trans } = useApp();
  const [large, setLarge] = React.useState<IFigure | null>(null);
  React.useEffect(() => void model.readFigures(), [model, job.state, job.progress.cells_done]);
  const { figures } = model;
  if (!figures.length) {
    return null;
  }
  return (
    <Card
      title={trans._n('%1 figure', '%1 figures', figures.length)}
      wide={figures.length > 1 || !!large}
    >
      <ul
        className="jp-PaddleGpu-pictures"
        onKeyDown={event => event.key === 'Escape' && setLarge(null)}
      >
        {figures.map((figure, index) => (
          <li key={index} className={figure === large ? 'jp-mod-large' : undefined}>
            <button
              type="button"
              aria-expanded={figure === large}
              title={trans.__('Make it larger or smaller')}
              onClick={() => setLarge(figure === large ? null : figure)}
            >
              <img
                src={address(figure)}
                alt={trans.__('Figure %1, of cell %2', index + 1, figure.cell + 1)}
              />
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The address of a picture as an image, in which no script of a drawing runs. */
export function address({ mime, data }: IFigure): string {
  return mime === 'image/svg+xml'
    ? `data:image/svg+xml;utf8,${encodeURIComponent(data)}`
    : `data:${mime};base64,${data.replace(/\s/g, '')}`;
}
