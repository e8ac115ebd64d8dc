/** What is scheduled: when it runs next, what became of the last run, pause, resume, delete with undo. */

import * as React from 'react';

import type { ISchedule } from '../../domain';
import type { Plans } from '../../models/plans/plans';
import { CommandIDs } from '../../tokens';
import { useApp } from '../common/context';
import { Button, Muted, Note, Row, Space } from '../common/pieces';
import { dateIn, scheduleState } from './words';

export function ScheduleList({ plans }: { plans: Plans }): JSX.Element | null {
  const { trans } = useApp();
  const { schedules, deleted, error } = plans;
  const undo = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (deleted) {
      undo.current?.querySelector('button')?.focus();
    }
  }, [deleted?.id]);
  if (!schedules.length && !deleted && !error) {
    return null;
  }
  return (
    <section className="jp-PaddleGpu-schedules" aria-label={trans.__('Scheduled')}>
      {schedules.length > 0 && <h2>{trans.__('Scheduled')}</h2>}
      {error && (
        <Note kind="error" message={error}>
          <Button onClick={() => plans.dismiss()}>{trans.__('Dismiss')}</Button>
        </Note>
      )}
      <div role="status" ref={undo}>
        {deleted && (
          <div className="jp-PaddleGpu-leaving">
            {trans.__('%1 is not scheduled any more.', deleted.name)}{' '}
            <Button onClick={() => void plans.restore()}>{trans.__('Undo')}</Button>
          </div>
        )}
      </div>
      <ul>
        {schedules.map(one => (
          <Item key={one.id} schedule={one} plans={plans} />
        ))}
      </ul>
    </section>
  );
}

function Item({ schedule, plans }: { schedule: ISchedule; plans: Plans }): JSX.Element {
  const { trans, language, commands } = useApp();
  const { state, dates, zone, last, note } = schedule;
  return (
    <li data-state={state} data-schedule={schedule.id}>
      <Row wrap>
        <b title={schedule.notebook}>{schedule.name}</b>
        <span>{schedule.when.message.replaceAll('`', '')}</span>
        {state !== 'active' && <Muted>{scheduleState(state, trans)}</Muted>}
        <Space />
        {state === 'active' && (
          <Button
            aria-label={trans.__('Pause %1', schedule.name)}
            onClick={() => void plans.move(schedule.id, 'pause')}
          >
            {trans.__('Pause')}
          </Button>
        )}
        {state === 'paused' && (
          <Button
            aria-label={trans.__('Resume %1', schedule.name)}
            onClick={() => void plans.move(schedule.id, 'resume')}
          >
            {trans.__('Resume')}
          </Button>
        )}
        <Button
          aria-label={trans.__('Delete the schedule of %1', schedule.name)}
          onClick={() => void plans.deleteSchedule(schedule)}
        >
          {trans.__('Delete')}
        </Button>
      </Row>
      <div className="jp-PaddleGpu-muted jp-PaddleGpu-small">
        {[
          dates.length
            ? trans.__('next: %1', dates.map(date => dateIn(date, zone, language)).join(' · '))
            : '',
          schedule.source === 'disk'
            ? trans.__('the notebook as it is on the disk then')
            : trans.__('the notebook as it was saved')
        ]
          .filter(Boolean)
          .join(' — ')}
        {last?.job_id && (
          <>
            {' — '}
            <Button
              look="link"
              onClick={() => void commands.execute(CommandIDs.openJob, { id: last.job_id })}
            >
              {trans.__('last run')}
            </Button>
          </>
        )}
      </div>
      {note && <Note kind={schedule.last?.why ? 'warning' : 'info'} message={note} />}
    </li>
  );
}
