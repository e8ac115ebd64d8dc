/**
 * What the server sends and takes, by the names that the front end uses. The shapes are those of the OpenAPI document
 * (`jlpm api` writes `openapi.ts` from it, `make lint` looks that it is up to date); here stands only what is the
 * browser's own. Sizes are in bytes, times in seconds since the epoch, `null` where something is not known.
 */

import type { components } from './openapi';

type Schemas = components['schemas'];

/** A sentence in the reader's language and the next step (empty where there is none). */
export type IMessage = Schemas['Message'];
/** Where in a notebook: cell index among all cells (from 0), line in that cell (from 1). */
export type IPlace = Schemas['Place'];
export type IFact = Schemas['Fact'];
export type Value = IFact['value'];
/** What trains in a notebook, read without running it. */
export type INotebookFacts = Schemas['NotebookFacts'];

/** What is asked; what is left out is as in the notebook. */
export type IEstimateRequest = Partial<Schemas['EstimateRequest']>;
/** What can be asked of an estimate, as a field of a form. */
export type IWhatIf = Schemas['WhatIfField'];
export type IEstimate = Schemas['Estimate'];
/** One of a notebook's trainings. */
export type ITraining = Schemas['Training'];
export type IQuestion = Schemas['Question'];
export type ITimelinePoint = Schemas['TimelinePoint'];
export type Phase = ITimelinePoint['phase'];
export type IAliveTensor = Schemas['AliveTensor'];
/** A layer of the model with all below it; `path` is dotted, empty for the model itself. */
export type ILayerMemory = Schemas['LayerMemory'];
/** A change that takes less, with the request that asks for it; the document tells no more of that than that it is one. */
export type IRemedy = Omit<Schemas['Remedy'], 'request'> & { request: IEstimateRequest };

/** What a job's copy of a notebook has otherwise than the notebook. */
export type IChanges = Schemas['Changes'];
export type IChangedCell = Schemas['ChangedCell'];

export type Breakdown = Schemas['Breakdown'];
export type Kind = keyof Breakdown;
/** The kinds of memory in the order in which they are drawn. */
export const KINDS = [
  'parameters',
  'gradients',
  'optimizer_state',
  'activations',
  'inputs',
  'workspace',
  'context'
] as const satisfies readonly Kind[];

export type IDevice = Schemas['Device'];
export type IHostSample = Schemas['HostSample'];
export type IInventory = Schemas['Inventory'];
export type IAccelerator = Schemas['Accelerator'];
export type IVerdict = Schemas['Verdict'];
/** All that wait, and what the policy gives this user. */
export type IQueueView = Schemas['QueueView'];
/** A row of the match's table: a device's expected seconds, price and score. */
export type IDeviceScore = Schemas['DeviceScore'];
export type IPlacement = Schemas['Placement'];
/** What becomes of a training here and now. */
export type IDecision = Schemas['Decision'];
/** A change with which it fits; as with a remedy, the document tells no more of the request than that it is one. */
export type IWay = Omit<Schemas['Way'], 'request'> & { request: IEstimateRequest };
/** What a submit would lead to. */
export type IPreflight = Schemas['Preflight'];
/** Answer to a placement: all that the panel shows before a submit. */
export type IMatched = Schemas['Matched'];
export type IEngineFeatures = Schemas['Features'];
/** A container image with what speaks for and against it. */
export type IImageChoice = Schemas['ImageChoice'];

export type IJob = Schemas['Job'];
export type JobState = IJob['state'];
export type IJobResult = Schemas['JobResult'];
/** One device of a job up to a moment; `memory_bytes` is what its driver counts for the job's own processes. */
export type IDevicePoint = Schemas['DevicePoint'];
/** What a job used in the `seconds` up to `time`: means of shares (100 for one processor), peaks of memory. */
export type IStatisticsPoint = Schemas['StatisticsPoint'];
export type IStatisticsSummary = Schemas['StatisticsSummary'];
export type IJobStatistics = Schemas['JobStatistics'];

/** What a training says of itself over time; values in the order of `times`, seconds since the epoch. */
export type IJobMetrics = Schemas['JobMetrics'];
export type IMetricCurve = Schemas['MetricCurve'];
/** A picture that a notebook has drawn. */
export type IFigure = Schemas['Figure'];
/** Somebody who can be told of a job's end. */
export type IReceiver = Schemas['ReceiverRow'];
export type INotice = Schemas['Notice'];
/** A variable of a notebook with the value that a run has, or a fact of the training without a name. */
export type IVariable = Schemas['Variable'];
/** One thing that a run has otherwise than another one. */
export type IDifference = Schemas['Difference'];
export type ICellDifference = Schemas['CellDifference'];
export type IComparison = Schemas['Comparison'];
/** What a job is to have otherwise when it is run again; what is left out is as it was. */
export type IRerun = Partial<Omit<Schemas['RerunBody'], 'request' | 'resources'>> & {
  request?: IEstimateRequest;
  resources?: Partial<Schemas['ResourcesBody']>;
};

/** One notebook run with several values. */
export type ISweep = Schemas['SweepReport'];
export type ITrial = Schemas['TrialRow'];
export type IDimension = Schemas['Dimension'];
export type ISweepBody = Partial<
  Pick<Schemas['SweepBody'], 'path' | 'job' | 'space' | 'search' | 'trials' | 'at_once'>
> &
  ISubmission & { content?: unknown };
export type ISweepCheck = Schemas['SweepCheck'];
/** A notebook that runs later, or again and again. */
export type ISchedule = Schemas['ScheduleReport'];
export type IScheduleBody = Partial<
  Pick<Schemas['ScheduleBody'], 'at' | 'cron' | 'free' | 'below' | 'zone' | 'source'>
>;

/**
 * One line of a log: number, time, stream, text, whether it takes the place of the stream's last line (`r`), whether
 * another one will take its own (`p`), the text with its colours (`c`), and the place in the notebook that a traceback
 * names (`at`). The last four are sent where there is something to say.
 */
export type ILogLine = Omit<Schemas['LogLine'], 'r' | 'p' | 'c' | 'at' | 'm' | 'f'> &
  Partial<Pick<Schemas['LogLine'], 'r' | 'p' | 'c' | 'at' | 'm' | 'f'>>;
export type ILogPage = Omit<Schemas['LogPage'], 'lines'> & { lines: ILogLine[] };

/** What a person chose for a job; what is left out is the policy's to choose. */
export type ISubmission = Partial<
  Pick<
    Schemas['SubmitBody'],
    'engine' | 'token' | 'anyway' | 'image' | 'environment' | 'notify'
  >
> & {
  options?: { data?: string[] };
  request?: IEstimateRequest;
  resources?: Partial<Schemas['ResourcesBody']>;
};

const ENDED: ReadonlySet<JobState> = new Set<JobState>(['succeeded', 'failed', 'cancelled']);

/** Whether a state is final. */
export function isEnded(state: JobState): boolean {
  return ENDED.has(state);
}

/** What an estimate is held against, and what it was measured over. */
export interface IMeasured {
  bytes: number;
  over: 'device' | 'steps' | 'run';
}

/** The fairest figure that Paddle's allocators gave: a step is estimated, so a whole run's peak comes last. */
export function measuredPeak(result: IJobResult | null): IMeasured | null {
  const figures: [IMeasured['over'], number | null | undefined][] = [
    ['device', result?.device_allocated_bytes],
    ['steps', result?.step_allocated_bytes],
    ['run', result?.host_allocated_bytes]
  ];
  const found = figures.find(([, bytes]) => bytes);
  return found ? { over: found[0], bytes: found[1] as number } : null;
}
