/** What a person chose for a job, and how it is sent. What is empty is the policy's to choose. */

import type { IEngineFeatures, IImageChoice, ISubmission } from '../../domain';

export interface IChoice {
  engine: string;
  /** null: as the policy says; 0: on the CPU. */
  gpus: number | null;
  deviceIds: string[];
  /** Of each device's memory: a fraction, or bytes above 1. null: as the policy says; 1: whole devices. */
  share: number | null;
  /** Among one's own jobs the larger the earlier; below 0 others pass as well. */
  priority: number;
  /** Empty: the first of the list. */
  image: string;
  /** Bytes of the machine's memory at most. */
  memoryBytes: number | null;
  /** Seconds that the job may run at most. */
  seconds: number | null;
  environment: Record<string, string>;
  /** Folders that the job may read; null: those of the policy. */
  data: string[] | null;
  /** What to do when it is done. */
  result: '' | 'open';
  /** Who is told when it has ended; null: those whom the policy names. */
  notify: string[] | null;
}

/** As the policy has it. */
export const AS_USUAL: IChoice = {
  engine: '',
  gpus: null,
  deviceIds: [],
  share: null,
  priority: 0,
  image: '',
  memoryBytes: null,
  seconds: null,
  environment: {},
  data: null,
  result: '',
  notify: null
};

/** What of a choice is otherwise than usual. */
export function otherwise(choice: IChoice): Partial<IChoice> {
  return Object.fromEntries(
    Object.entries(choice).filter(
      ([name, value]) =>
        JSON.stringify(value) !== JSON.stringify(AS_USUAL[name as keyof IChoice])
    )
  );
}

/** How a match is asked for the place that was chosen. */
export function placeOf({ engine, gpus, deviceIds, share, image }: IChoice): {
  engine?: string;
  gpus?: number;
  device_ids?: string[];
  share?: number;
  image?: string;
} {
  return {
    ...(engine ? { engine } : {}),
    ...(gpus !== null ? { gpus, device_ids: deviceIds } : {}),
    ...(share !== null ? { share } : {}),
    ...(image ? { image } : {})
  };
}

/** What of a choice changes the figure itself: flags of Paddle's are variables. */
export function figureOf({ environment }: IChoice): Pick<Partial<IChoice>, 'environment'> {
  return Object.keys(environment).length ? { environment } : {};
}

/** Whether a job would run at another place, in another image or with other variables: the match no longer holds. */
export function isElsewhere(before: IChoice, after: IChoice): boolean {
  const place = ({ engine, gpus, deviceIds, share, image, environment }: IChoice) =>
    JSON.stringify([engine, gpus, deviceIds, share, image, environment]);
  return place(before) !== place(after);
}

/** The fields of a submit that a choice fills. */
export function submissionOf(choice: IChoice): ISubmission {
  const { engine, gpus, deviceIds, share, priority, image, memoryBytes, seconds } = choice;
  const { data, notify } = choice;
  const resources = {
    ...(gpus !== null ? { gpus, device_ids: deviceIds } : {}),
    ...(share !== null ? { share } : {}),
    ...(memoryBytes !== null ? { memory_bytes: memoryBytes } : {}),
    ...(seconds !== null ? { seconds } : {})
  };
  return {
    ...(engine ? { engine } : {}),
    ...(image ? { image } : {}),
    ...(priority ? { priority } : {}),
    ...figureOf(choice),
    ...(data ? { options: { data } } : {}),
    ...(notify ? { notify } : {}),
    ...(Object.keys(resources).length ? { resources } : {})
  };
}

/** What of a choice makes sense on another engine: devices, images and limits are not all engines' own. */
export function movedTo(
  choice: IChoice,
  from: IEngineFeatures | undefined,
  to: IEngineFeatures
): IChoice {
  const strangers = choice.deviceIds.length > 0 && (to.own_devices || !!from?.own_devices);
  return {
    ...choice,
    engine: to.name,
    ...(strangers ? { gpus: null, deviceIds: [] } : {}),
    ...(to.shares ? {} : { share: null }),
    ...(to.containers ? {} : { image: '', data: null }),
    ...(to.memory_limit ? {} : { memoryBytes: null }),
    ...(to.time_limit ? {} : { seconds: null })
  };
}

const PAIR = /^\s*([^\s=]+)\s*=(.*)$/;

/** `NAME=value` lines as people write them; others are passed over. */
export function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap(line => {
      const [, name, value] = PAIR.exec(line) ?? [];
      return name ? [[name, value.trim()]] : [];
    })
  );
}

/** Lines that are none of these. */
export function strayLines(text: string): string[] {
  return text.split('\n').filter(line => line.trim() && !PAIR.test(line));
}

export function writeEnvironment(environment: Record<string, string>): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** What is known of the image that is chosen; where none is, of the one that the job would get: of those offered the
 * last one is for the CPU. */
export function imageOf(
  images: readonly IImageChoice[],
  chosen: string,
  onCpu: boolean
): IImageChoice | undefined {
  return chosen
    ? images.find(({ reference }) => reference === chosen)
    : images.at(onCpu ? -1 : 0);
}

/** An image's name without its registry; whose it is stays where it is none of Paddle's own (`stand-in/paddle:1`). */
export function shortImage(reference = ''): string {
  return reference.replace(/^[^/]*[.:][^/]*\//, '').replace(/^paddlepaddle\//, '');
}
