/** A log of any length: only the rows on the screen are drawn, only the pages around them are fetched. */

import * as React from 'react';

import { clock, group } from '../../format';
import type { IFigure, IPlace } from '../../domain';
import { filePlace, type IFilePlace } from '../../models/job/files';
import type { JobLog } from '../../models/job/jobLog';
import type { JobView } from '../../models/job/jobView';
import { MATCHES_KEPT } from '../../models/job/search';
import { isScript } from '../../models/jobs/runs';
import { Button, List, Muted, Space } from '../common/pieces';
import { useApp, useSignal } from '../common/context';
import { LogText } from '../common/logLine';
import { address } from './figures';
import { rankCount, useLog } from './ranks';

/** Height of a row in pixels, as the style sheet has it. */
const ROW = 18;
/** Rows drawn above and below what is seen. */
const MARGIN = 20;
/** Browsers cannot draw elements much higher than this; longer logs are scrolled in proportion. */
const HIGHEST = 15_000_000;
/** Milliseconds after the last key before a log is searched: each search reads all of its lines. */
const TYPED = 300;
/** This close to the end in pixels counts as the end. */
const NEAR_END = 2 * ROW;

export function LogView(props: {
  model: JobView;
  /** Go to the place in the source notebook that a traceback's line names. */
  openPlace: (place: IPlace) => void;
  /** Go to the file beside it that one names. */
  openFile: (place: IFilePlace) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { model, openPlace, openFile } = props;
  const { job } = model;
  const [rank, setRank] = React.useState(model.rank);
  const notebook = job?.spec.notebook ?? '';
  const source = useLog(model, rank);
  const { lines: log, search } = source;
  const [shown, setShown] = React.useState<number | null>(null);
  useSignal(log.changed);
  useSignal(search.changed);
  const box = React.useRef<HTMLDivElement>(null);
  const [top, setTop] = React.useState(0);
  const [height, setHeight] = React.useState(0);
  const [follow, setFollow] = React.useState(true);
  const [times, setTimes] = React.useState(true);
  // Once more to where one was led before: who has scrolled away is led there again.
  const [jumps, setJumps] = React.useState(0);
  const [picture, setPicture] = React.useState<IShownPicture | null>(null);
  const turn = (to: number) => {
    setRank((model.rank = to));
    setShown(null);
    setPicture(null);
    setFollow(true);
  };
  // Something else on the page may lead to another one.
  React.useEffect(() => {
    if (model.rank !== rank) {
      turn(model.rank);
    }
  }, [model.rank]);
  const jump = async () => {
    // Where one process failed the others were only stopped.
    const failed = job?.result?.rank ?? 0;
    if (failed !== rank) {
      turn(failed);
    }
    setShown(await model.logOf(failed).errorLine());
    setJumps(count => count + 1);
  };
  const show = async (line: number, place: IPlace) => {
    await model.readFigures();
    const found = model.figures.find(
      ({ cell, number }) => cell === place.cell && number === place.line
    );
    setFollow(false);
    setPicture({ line, figure: found ?? null });
  };

  const rows = log.rowCount;
  const full = rows * ROW;
  const drawn = Math.min(full, HIGHEST);
  const room = Math.max(1, drawn - height);
  // Position in the whole log for a position of the scroll bar.
  const offset = full <= HIGHEST ? top : (top / room) * Math.max(0, full - height);
  const first = Math.max(0, Math.floor(offset / ROW) - MARGIN);
  const last = Math.min(rows - 1, Math.ceil((offset + height) / ROW) + MARGIN);

  React.useEffect(() => {
    const node = box.current;
    if (!node) {
      return;
    }
    const observer = new ResizeObserver(() => setHeight(node.clientHeight));
    observer.observe(node);
    setHeight(node.clientHeight);
    return () => observer.disconnect();
  }, []);

  React.useEffect(() => {
    if (rows) {
      log.ensure(first, last);
    }
  }, [log, first, last, rows]);

  React.useLayoutEffect(() => {
    if (follow && box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [follow, rows, height, log.total]);

  const match = search.current >= 0 ? search.matches[search.current] : -1;
  const current = shown ?? match;
  React.useEffect(() => setShown(null), [match]);
  React.useEffect(() => {
    if (current < 0) {
      return;
    }
    let wanted = true;
    setFollow(false);
    void log.rowOf(current).then(row => {
      const node = box.current;
      if (wanted && node) {
        const target = Math.max(0, row * ROW - node.clientHeight / 2);
        const whole = log.rowCount * ROW;
        node.scrollTop =
          whole <= HIGHEST
            ? target
            : (target / Math.max(1, whole - node.clientHeight)) * (HIGHEST - node.clientHeight);
      }
    });
    return () => {
      wanted = false;
    };
  }, [log, current, jumps, search.moves]);

  const onScroll = (event: React.UIEvent<HTMLDivElement>) => {
    const node = event.currentTarget;
    setTop(node.scrollTop);
    const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END;
    if (follow && !atEnd && node.scrollTop < top) {
      setFollow(false);
    } else if (!follow && atEnd && node.scrollTop > top && current < 0) {
      setFollow(true);
    }
  };

  const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  const shift = first * ROW - offset + top;
  return (
    <div className="jp-PaddleGpu-logView">
      <div className="jp-PaddleGpu-row jp-PaddleGpu-logTools">
        {job && rankCount(job) > 1 && (
          <List
            aria-label={trans.__('Rank')}
            value={rank}
            onChange={event => turn(Number(event.target.value))}
          >
            {Array.from({ length: rankCount(job) }, (_, each) => (
              <option key={each} value={each}>
                {trans.__('Rank %1', each)}
              </option>
            ))}
          </List>
        )}
        <SearchBox key={rank} source={source} />
        <Muted>
          {trans
            ._n('%1 line', '%1 lines', log.total)
            .replace(String(log.total), group(log.total))}
        </Muted>
        <Space />
        {job?.result?.failure && (
          <Button look="link" onClick={() => void jump()}>
            {trans.__('Jump to the error')}
          </Button>
        )}
        <CopyButton source={source} />
        <label className="jp-PaddleGpu-check">
          <input type="checkbox" checked={times} onChange={() => setTimes(!times)} />
          {trans.__('Times')}
        </label>
        <label className="jp-PaddleGpu-check">
          <input type="checkbox" checked={follow} onChange={() => setFollow(!follow)} />
          {trans.__('Follow')}
        </label>
        <a className="jp-PaddleGpu-button jp-mod-link" href={source.fileUrl} download>
          {trans.__('Download')}
        </a>
      </div>
      <div
        className="jp-PaddleGpu-log"
        ref={box}
        role="log"
        aria-live="polite"
        aria-label={trans.__('Log of the job')}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="jp-PaddleGpu-logAll" style={{ height: drawn }}>
          <div
            className="jp-PaddleGpu-logWindow"
            style={{ transform: `translateY(${shift}px)` }}
          >
            {indices.map(index => {
              const line = log.row(index);
              const named = line?.s === 'stderr' ? filePlace(line.x, notebook) : null;
              return line ? (
                <div
                  key={index}
                  className={`jp-PaddleGpu-logRow${line.n === current ? ' jp-mod-found' : ''}`}
                >
                  {times && <time className="jp-PaddleGpu-faint">{clock(line.t)}</time>}
                  <LogText line={line} mark={search.query} />
                  {/* Pictures are kept of the first process alone. */}
                  {line.f && !rank && (
                    <Button look="link" onClick={() => line.f && void show(line.n, line.f)}>
                      {trans.__('figure %1 of cell %2', line.f.line, line.f.cell + 1)}
                    </Button>
                  )}
                  {line.at && (
                    <Button look="link" onClick={() => line.at && openPlace(line.at)}>
                      {job && isScript(job)
                        ? trans.__('line %1', line.at.line)
                        : trans.__('cell %1, line %2', line.at.cell + 1, line.at.line)}
                    </Button>
                  )}
                  {named && (
                    <Button look="link" onClick={() => openFile(named)}>
                      {trans.__('%1, line %2', named.file, named.line)}
                    </Button>
                  )}
                  {picture?.line === line.n && (
                    <Picture figure={picture.figure} close={() => setPicture(null)} />
                  )}
                </div>
              ) : (
                <div key={index} className="jp-PaddleGpu-logRow jp-PaddleGpu-faint">
                  …
                </div>
              );
            })}
          </div>
        </div>
        {log.isOpen && !log.total && (
          <p className="jp-PaddleGpu-muted jp-PaddleGpu-logEmpty">
            {log.ended ? trans.__('Nothing was printed.') : trans.__('Nothing printed yet.')}
          </p>
        )}
      </div>
      {log.error && (
        <div className="jp-PaddleGpu-muted" role="alert">
          {log.error.message}{' '}
          <Button look="link" onClick={() => void log.open()}>
            {trans.__('Try again')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A picture below the line of the log at which it was drawn; null: it is not there any more. */
interface IShownPicture {
  line: number;
  figure: IFigure | null;
}

/** Lies over the lines that follow; Escape goes back to where the keyboard was. */
function Picture(props: { figure: IFigure | null; close: () => void }): JSX.Element {
  const { trans } = useApp();
  const { figure, close } = props;
  const box = React.useRef<HTMLDivElement>(null);
  const before = React.useRef(document.activeElement as HTMLElement | null);
  React.useEffect(() => box.current?.focus(), [figure]);
  const leave = () => {
    close();
    before.current?.focus();
  };
  return (
    <div
      className="jp-PaddleGpu-logPicture"
      role="group"
      aria-label={trans.__('Figure')}
      tabIndex={-1}
      ref={box}
      onKeyDown={event => event.key === 'Escape' && leave()}
    >
      {figure === null ? (
        <Muted>{trans.__('This figure is not in the executed notebook any more.')}</Muted>
      ) : (
        <img
          src={address(figure)}
          alt={trans.__('Figure %1, of cell %2', figure.number, figure.cell + 1)}
        />
      )}
      <Button look="link" onClick={leave}>
        {trans.__('Close')}
      </Button>
    </div>
  );
}

/** Copies the end of the log, as plain text. */
function CopyButton({ source }: { source: JobLog }): JSX.Element {
  const { trans } = useApp();
  const [copied, setCopied] = React.useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(await source.text());
    setCopied(true);
    window.setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <Button
      look="link"
      title={trans.__('Copy the log; of a long one its end')}
      onClick={() => void copy()}
    >
      {copied ? trans.__('Copied') : trans.__('Copy')}
    </Button>
  );
}

function SearchBox({ source }: { source: JobLog }): JSX.Element {
  const { trans } = useApp();
  const { lines: log, search } = source;
  const [word, setWord] = React.useState(search.query);
  const submit = (back: boolean) => {
    if (word !== search.query) {
      void search.start(word, log.total);
    } else {
      search.move(back ? -1 : 1);
    }
  };
  React.useEffect(() => {
    if (word !== search.query) {
      const timer = window.setTimeout(() => void search.start(word, log.total), TYPED);
      return () => window.clearTimeout(timer);
    }
    return undefined;
  }, [word]);
  const found = search.matches.length;
  const many = found >= MATCHES_KEPT ? `${group(found)}+` : group(found);
  return (
    <div className="jp-PaddleGpu-row" role="search">
      <input
        className="jp-PaddleGpu-input"
        type="search"
        value={word}
        placeholder={trans.__('Search')}
        aria-label={trans.__('Search in the log')}
        onChange={event => setWord(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            submit(event.shiftKey);
          }
        }}
      />
      {search.query && (
        <>
          <span className="jp-PaddleGpu-muted" role="status">
            {search.scanned !== null
              ? trans.__('%1 of %2 lines searched', group(search.scanned), group(log.total))
              : found
                ? trans.__('%1 of %2', search.current + 1, many)
                : trans.__('not found')}
          </span>
          <Button
            look="link"
            disabled={!found}
            aria-label={trans.__('Previous match')}
            onClick={() => search.move(-1)}
          >
            ↑
          </Button>
          <Button
            look="link"
            disabled={!found}
            aria-label={trans.__('Next match')}
            onClick={() => search.move(1)}
          >
            ↓
          </Button>
        </>
      )}
    </div>
  );
}
