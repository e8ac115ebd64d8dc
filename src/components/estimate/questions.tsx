/** What only the reader can answer, and what hinders reading. */

import * as React from 'react';

import type { IQuestion, Value } from '../../domain';
import type { Training } from '../../models/estimate/training';
import { useApp } from '../common/context';
import { Busy, Button, Note } from '../common/pieces';
import { CellLink } from '../head/factLine';

/** What is in the way of an answer: a notebook that cannot be read, its problems, open questions. */
export function Questions(props: {
  training: Training;
  retry: () => void;
}): JSX.Element | null {
  const { trans } = useApp();
  const { facts, factsError, estimate } = props.training;
  const lacking = estimate?.packages.filter(one => one.is_needed) ?? [];
  const open = (estimate?.questions.length ?? 0) + lacking.length;
  if (facts && !factsError && (!facts.problems.length || estimate?.stop) && !open) {
    return null;
  }
  return (
    <div className="jp-PaddleGpu-section jp-mod-whole">
      {factsError && (
        <Note kind="error" message={factsError}>
          <Button onClick={props.retry}>{trans.__('Try again')}</Button>
        </Note>
      )}
      {!facts && !factsError && <Busy>{trans.__('Reading the notebook…')}</Busy>}
      {!estimate?.stop &&
        facts?.problems.map((problem, index) => (
          <Note key={index} kind="warning" message={problem} />
        ))}
      {lacking.map(one => (
        <Note key={one.module} kind="warning" message={one.why}>
          <CellLink place={one.where} training={props.training} />
        </Note>
      ))}
      {estimate?.questions.map(question => (
        <Question key={question.name} question={question} training={props.training} />
      ))}
    </div>
  );
}

/** How an answer is written, by the kind of its question. */
const EXAMPLES: Partial<Record<IQuestion['kind'], string>> = {
  batch: 'float32[32,3,224,224] int64[32,1]',
  path: '/home/me/data'
};

/** What data looks like, as `domain/descriptions.py` reads it. */
const DESCRIPTION =
  /^\s*(([\w.]+\s*[:=]\s*)?(u?int(8|16|32|64)|b?float(16|32|64)|bool)\s*\[[\d,\s]*\][\s,;]*)+$/;

/** Characters that an answer takes, by the kind of its question. */
const WIDTHS: Record<IQuestion['kind'], number> = {
  value: 6,
  environment: 10,
  path: 24,
  batch: 32
};

function Question(props: { question: IQuestion; training: Training }): JSX.Element {
  const { trans } = useApp();
  const { question, training } = props;
  const given = training.request.answers?.[question.name] ?? question.suggestion;
  const [typed, setValue] = React.useState<string | null>(null);
  // What is suggested may change while nobody has typed: the kernel may hold it a moment later.
  const value = typed ?? String(given ?? '');
  // An environment variable and a path are text, and what a batch looks like is no number either.
  const isText = question.kind !== 'value';
  const isBatch = question.kind === 'batch';
  const wrong =
    !!value.trim() &&
    (isBatch
      ? !DESCRIPTION.test(value)
      : !isText && misses(parse(value.trim()), question.suggestion));
  const use = () => {
    if (value.trim() && !wrong) {
      void training.answer(question.name, isText ? value.trim() : parse(value.trim()));
    }
  };
  return (
    <Note kind="warning" message={question.why}>
      <label className="jp-PaddleGpu-row jp-PaddleGpu-question">
        <code>
          {question.name}
          {question.kind === 'environment' ? '=' : ' ='}
        </code>
        <input
          className="jp-PaddleGpu-input"
          value={value}
          size={WIDTHS[question.kind]}
          placeholder={EXAMPLES[question.kind] ?? ''}
          spellCheck={false}
          data-kind={question.kind}
          aria-invalid={wrong}
          onChange={event => setValue(event.target.value)}
          onKeyDown={event => event.key === 'Enter' && use()}
        />
      </label>
      <Button onClick={use} disabled={!value.trim() || wrong || training.isEstimating}>
        {trans.__('Use')}
      </Button>
      {wrong && (
        <small role="alert">
          {isBatch
            ? trans.__('Write it as %1', EXAMPLES.batch)
            : trans.__('A number above 0 is wanted here.')}
        </small>
      )}
      <CellLink place={question.where} training={training} />
    </Note>
  );
}

/** Whether a value cannot be what is asked for: a size is suggested, and this is none. */
function misses(value: Value, suggestion: Value): boolean {
  return (
    typeof suggestion === 'number' &&
    suggestion > 0 &&
    !(typeof value === 'number' && value > 0)
  );
}

/** What a person typed, as the value that Python would see. */
export function parse(value: string): Value {
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) {
    return Number(value);
  }
  const words: Record<string, Value> = {
    true: true,
    false: false,
    none: null
  };
  const word = value.toLowerCase();
  return word in words ? words[word] : value.replace(/^(['"])(.*)\1$/, '$2');
}
