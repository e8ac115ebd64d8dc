/**
 * What the server sends, as `jupyter_paddle_gpu/domain` defines it: sizes in bytes, times in seconds since the epoch,
 * `null` where something is not known.
 */

/** A sentence in the reader's language and the next step (empty where there is none). */
export interface IMessage {
  code: string;
  message: string;
  hint: string;
}

export type Value = string | number | boolean | null;

/** Where in a notebook: cell index among all cells (from 0), line in that cell (from 1). */
export interface IPlace {
  cell: number;
  line: number;
}

export interface IFact {
  value: Value;
  source: string;
  place: IPlace | null;
  how: 'literal' | 'constant' | 'default' | 'computed';
  name: string;
}

/** What trains in a notebook, read without running it. */
export interface INotebookFacts {
  kernel_name: string;
  language: string;
  cells: { source: string }[];
  imports_paddle: boolean;
  loop: 'fit' | 'custom' | 'none';
  layers: { name: string; place: IPlace }[];
  model: IFact | null;
  optimizer: IFact | null;
  loss: IFact | null;
  batch_size: IFact | null;
  amp: IFact | null;
  distribution: IFact | null;
  epochs: IFact | null;
  problems: IMessage[];
}

export interface IEstimateRequest {
  answers?: Record<string, Value>;
  batch_size?: number | null;
  amp?: 'off' | 'O1' | 'O2' | null;
  amp_dtype?: 'float16' | 'bfloat16' | null;
  accumulation?: number | null;
  recompute?: boolean | null;
  /** What `clear_grad` is called with; false gives the gradients' memory back between two steps. */
  set_to_zero?: boolean | null;
  /** Height and width in pixels. */
  image_size?: number | null;
  /** Tokens or time steps. */
  sequence_length?: number | null;
  /** Processes that train together, one a device. */
  devices?: number | null;
  device?: string | null;
  target?: 'gpu' | 'cpu';
  details?: boolean;
}

/** What can be asked of an estimate, as a field of a form. */
export interface IWhatIf {
  /** Of the field of the request. */
  name: string;
  kind: 'count' | 'choice' | 'switch' | 'text' | 'flag';
  label: string;
  /** Beside a figure that was computed with a number; `{value}` stands for that. */
  asked: string;
  least: number | null;
  /** All values; none where a number is asked for. */
  choices: { value: Value; label: string; asked: string }[];
  /** Whether a job is run with it too. */
  in_jobs: boolean;
  /** The what-if without which it says nothing. */
  follows: string;
  /** Whether it makes sense only where the estimate has a value of its own, or the fact named in `fact` says so. */
  if_known: boolean;
  fact: string;
}

export interface IQuestion {
  name: string;
  why: IMessage;
  where: IPlace | null;
  suggestion: Value;
}

export const KINDS = [
  'parameters',
  'gradients',
  'optimizer_state',
  'activations',
  'inputs',
  'workspace',
  'context'
] as const;

export type Kind = (typeof KINDS)[number];

export type Breakdown = Record<Kind, number>;

export type Phase = 'forward' | 'backward' | 'update';

export interface ITimelinePoint {
  index: number;
  bytes: number;
  phase: Phase;
  op: string;
  layer: string;
}

export interface IRemedy {
  /** Name of the what-if that makes it. */
  change: string;
  says: IMessage;
  request: IEstimateRequest;
  peak_bytes: number;
  saves_bytes: number;
  largest_batch: number | null;
}

/** A layer of the model with all below it; `path` is dotted, empty for the model itself. */
export interface ILayerMemory {
  path: string;
  type: string;
  parameters: number;
  parameter_bytes: number;
  activation_bytes: number;
  flops: number;
}

export interface IAliveTensor {
  bytes: number;
  kind: string;
  op: string;
  layer: string;
  shape: number[];
  dtype: string;
}

export interface IEstimate {
  status: 'ok' | 'needs_input' | 'no_model';
  evidence: 'trace' | 'measured' | 'scan';
  questions: IQuestion[];
  notes: IMessage[];
  model: string | null;
  batch_size: number | null;
  optimizer: string | null;
  loss: string | null;
  amp: 'off' | 'O1' | 'O2' | null;
  distribution: string | null;
  /** Processes that the figure is for; null where nothing is distributed. */
  devices: number | null;
  target: 'gpu' | 'cpu';
  device: string | null;
  parameters: number | null;
  allocated_peak_bytes: number | null;
  reserved_peak_bytes: number | null;
  peak_bytes: number | null;
  low: number | null;
  high: number | null;
  breakdown: Breakdown | null;
  timeline: ITimelinePoint[];
  peak_at: ITimelinePoint | null;
  alive_at_peak: IAliveTensor[];
  layers: ILayerMemory[];
  flops_per_step: number | null;
  flops_forward: number | null;
  flops_backward: number | null;
  bytes_moved: number | null;
  arithmetic_intensity: number | null;
  inputs: string[];
  /** Height and width of the images, length of the sequences that the model is called with; null where there are none. */
  image_size: [number, number] | null;
  sequence_length: number | null;
  remedies: IRemedy[];
  fits: { device: string; limit_bytes: number; largest_batch: number | null }[];
  paddle_version: string | null;
  seconds: number;
}

export interface IDeviceProcess {
  pid: number;
  memory_bytes: number | null;
  user: string | null;
  command: string | null;
  job_id: string | null;
}

export interface IDevice {
  id: string;
  index: number;
  vendor: string;
  name: string;
  memory_total: number | null;
  memory_used: number | null;
  memory_free: number | null;
  utilization: number | null;
  temperature: number | null;
  power: number | null;
  simulated: boolean;
  processes: IDeviceProcess[];
  problem: IMessage | null;
}

export interface IHostSample {
  cpu_count: number;
  cpu_percent: number;
  memory_total: number;
  memory_available: number;
  disk_free: number | null;
}

export interface IInventory {
  time: number;
  host: IHostSample;
  devices: IDevice[];
  driver_version: string | null;
  cuda_version: string | null;
  problems: IMessage[];
}

export interface IAccelerator {
  name: string;
  vendor: string;
  memory_bytes: number;
}

export interface IVerdict {
  device_id: string;
  device_name: string;
  fit: 'fits' | 'tight' | 'short' | 'never' | 'unknown';
  reason: IMessage;
  free_bytes: number | null;
  needed_bytes: number | null;
  missing_bytes: number | null;
  largest_batch: number | null;
  seconds_per_step: number | null;
  simulated: boolean;
}

export interface IPlacement {
  engine: string;
  device_ids: string[];
  image: { reference: string; local: boolean; reasons: IMessage[] } | null;
  verdicts: IVerdict[];
  catalogue: IVerdict[];
  reasons: IMessage[];
}

/** Answer to a placement: all that the panel shows before a submit. */
export interface IMatched {
  facts: INotebookFacts;
  estimate: IEstimate;
  placement: IPlacement;
}

export interface IEngineFeatures {
  name: string;
  /** What people call it. */
  title: IMessage;
  gpus: boolean;
  containers: boolean;
  several_devices: boolean;
  available: boolean;
  problems: IMessage[];
}

export type JobState =
  'queued' | 'preparing' | 'running' | 'stopping' | 'succeeded' | 'failed' | 'cancelled';

const ENDED: ReadonlySet<JobState> = new Set<JobState>(['succeeded', 'failed', 'cancelled']);

/** Whether a state is final. */
export function isEnded(state: JobState): boolean {
  return ENDED.has(state);
}

export interface IProgress {
  cell: number | null;
  cells_done: number;
  cells_total: number;
  epoch: number | null;
  epochs: number | null;
  step: number | null;
  steps: number | null;
  metrics: Record<string, number>;
  seconds_left: number | null;
}

export interface ICellFailure {
  cell: number;
  line: number | null;
  name: string;
  value: string;
  traceback: string;
}

export interface IJobResult {
  exit_code: number | null;
  seconds: number | null;
  /** Peak of the whole run on the CPU: data sets, validation and the first step included. */
  host_allocated_bytes: number | null;
  /** Median peak of the steady training steps on the CPU; null with too few steps. */
  step_allocated_bytes: number | null;
  device_allocated_bytes: number | null;
  device_reserved_bytes: number | null;
  process_rss_bytes: number | null;
  paddle_version: string | null;
  failure: ICellFailure | null;
  /** What engine and driver saw of its processes from outside. */
  statistics: IStatisticsSummary | null;
  /** What the measurement says of the estimate, and whether later ones learn from it. */
  notes: IMessage[];
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

export interface IJobSpec {
  name: string;
  notebook: string;
  output: string;
  folder: string;
  engine: string;
  kernel_name: string;
  python: string;
  image: string;
  sets: Record<string, Value>;
  environment: Record<string, string>;
  rerun_of: string;
  estimated_peak_bytes: number | null;
  estimated_allocated_bytes: number | null;
  limits: ILimits | null;
}

/** What a job may take of the machine, with the reasons. */
export interface ILimits {
  memory_bytes: number | null;
  memory_from: 'job' | 'estimate' | 'policy';
  most_memory_bytes: number | null;
  cpus: number | null;
  why: IMessage[];
}

export interface IJob {
  id: string;
  spec: IJobSpec;
  state: JobState;
  created: number;
  updated: number;
  started: number | null;
  ended: number | null;
  reason: IMessage | null;
  device_ids: string[];
  progress: IProgress;
  result: IJobResult | null;
  attempts: number;
}

/**
 * One line of a log: number, time, stream, text, whether it takes the place of the stream's last line (`r`), and whether
 * another one will take its own (`p`).
 */
export interface ILogLine {
  n: number;
  t: number;
  s: 'stdout' | 'stderr' | 'result' | 'system';
  x: string;
  r?: boolean;
  p?: boolean;
}

/** One device of a job up to a moment; `memory_bytes` is what its driver counts for the job's own processes. */
export interface IDevicePoint {
  id: string;
  memory_bytes: number | null;
  device_memory_bytes: number | null;
  utilization_percent: number | null;
  process_utilization_percent: number | null;
  temperature_celsius: number | null;
  power_watts: number | null;
}

/** What a job used in the `seconds` up to `time`: means of shares (100 for one processor), peaks of memory. */
export interface IStatisticsPoint {
  time: number;
  seconds: number;
  cpu_percent: number | null;
  memory_bytes: number | null;
  memory_limit_bytes: number | null;
  devices: IDevicePoint[];
}

export interface IStatisticsSummary {
  seconds: number;
  cpu_mean_percent: number | null;
  cpu_seconds: number | null;
  memory_peak_bytes: number | null;
  read_bytes: number | null;
  written_bytes: number | null;
  received_bytes: number | null;
  sent_bytes: number | null;
  devices: IDeviceSummary[];
}

/** One device over the whole job. */
export interface IDeviceSummary {
  id: string;
  memory_peak_bytes: number | null;
  utilization_mean_percent: number | null;
}

export interface IJobStatistics {
  points: IStatisticsPoint[];
  summary: IStatisticsSummary;
}

export interface ILogPage {
  lines: ILogLine[];
  next: number;
  total: number;
  ended: boolean;
}

/** What a person chose for a job; what is left out is the policy's to choose. */
export interface ISubmission {
  engine?: string;
  request?: IEstimateRequest;
  resources?: { gpus: number; device_ids?: string[] };
  token?: string;
}
