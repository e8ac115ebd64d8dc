/** Numbers as people read them, alike in every part of the interface. */

import type { TranslationBundle } from '@jupyterlab/translation';

/** Sentences in a row; Chinese punctuation brings its own room. */
export function together(...sentences: (string | null | undefined | false)[]): string {
  return sentences
    .filter(Boolean)
    .join(' ')
    .replace(/([。；：！？）]) /g, '$1');
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size with three significant digits: `9.82 GiB`, `312 MiB`; an en dash where it is not known. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return '–';
  }
  const sign = value < 0 ? '−' : '';
  let size = Math.abs(value);
  let unit = 0;
  // 999.5 and more would be written with four digits.
  while (unit < UNITS.length - 1 && size >= 999.5) {
    size /= 1024;
    unit++;
  }
  return `${sign}${unit === 0 ? size.toFixed(0) : digits(size)} ${UNITS[unit]}`;
}

/** `9.6 – 10.4 GiB`: one unit for both ends, that of the upper one. */
export function byteRange(low: number, high: number): string {
  const [upper, unit] = bytes(high).split(' ');
  const scale = 1024 ** UNITS.indexOf(unit);
  const lower = digits(low / scale);
  return lower === upper ? bytes(high) : `${lower} – ${upper} ${unit}`;
}

/** A count in short scale, three digits of it at least: `110.4 M`, `4.94 G`, `64`. */
export function count(value: number): string {
  const steps: [number, string][] = [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k']
  ];
  for (const [size, name] of steps) {
    if (Math.abs(value) >= size) {
      const scale = name === 'k' ? 1e3 : size;
      const short = value / scale;
      const places = Math.abs(short) < 9.995 ? 2 : 1;
      return `${short.toFixed(places).replace(/\.0+$/, '')} ${name}`;
    }
  }
  return group(value);
}

/** Whole numbers with a thin separator between thousands: `1,204,311`. */
export function group(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** A whole number so, anything else as it is. */
export function plain(value: unknown): string {
  return Number.isInteger(value) ? group(value as number) : String(value);
}

/** A metric's value: five significant digits, exponents only where they are needed; null where it is not a number. */
export function metric(value: number | null): string {
  if (value === null) {
    return 'nan';
  }
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6)) {
    return value.toExponential(2);
  }
  return String(Number(value.toPrecision(5)));
}

/** A span of time: `0.4 s`, `38 s`, `4 min`, `1 h 12 min`, `2 d 3 h`. */
export function duration(seconds: number, trans: TranslationBundle): string {
  const s = Math.max(0, seconds);
  if (s < 10) {
    return trans.__('%1 s', s < 0.05 ? '0' : s.toFixed(1).replace(/\.0$/, ''));
  }
  if (s < 60) {
    return trans.__('%1 s', Math.round(s));
  }
  const minutes = Math.round(s / 60);
  if (s < 600) {
    const rest = Math.floor(s) % 60;
    return trans.__('%1 min %2 s', Math.floor(s / 60), rest);
  }
  if (minutes < 60) {
    return trans.__('%1 min', minutes);
  }
  if (minutes < 24 * 60) {
    return trans.__('%1 h %2 min', Math.floor(minutes / 60), minutes % 60);
  }
  return trans.__('%1 d %2 h', Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24);
}

/** A span of time for axes, from a minute on as a stopwatch has it: `1.5 s`, `7 s`, `12:30`, `1:02:00`. */
export function stopwatch(seconds: number, trans: TranslationBundle): string {
  const s = Math.max(0, Math.round(seconds));
  const tenths = Math.max(0, Math.round(seconds * 10));
  if (tenths < 600) {
    return trans.__('%1 s', tenths / 10);
  }
  const two = (part: number) => String(part).padStart(2, '0');
  const [hours, minutes] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/** A share: `7.3 %`, `97 %`. */
export function percent(value: number): string {
  return `${value.toFixed(value !== 0 && Math.abs(value) < 9.95 ? 1 : 0)} %`;
}

/** What something cost: `0.42 USD`, `12.30 CNY`. */
export function money(amount: number, currency: string): string {
  const figure = amount === 0 || amount >= 0.1 ? amount.toFixed(2) : amount.toPrecision(2);
  return `${figure} ${currency}`;
}

/** Time of day: `14:02:11`. */
export function clock(time: number): string {
  const date = new Date(time * 1000);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map(part => String(part).padStart(2, '0'))
    .join(':');
}

/** Date and time in the reader's language, by 24 hours as logs and cron have it; what is today's or this year's is left out. */
export function moment(time: number, language: string, toSecond = false): string {
  const date = new Date(time * 1000);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString(language || undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(toSecond ? { second: '2-digit' } : {}),
    ...BY_24_HOURS,
    ...(today ? {} : { month: 'short', day: 'numeric', ...yearOf(date) })
  });
}

/** `hour12: false` would say 24:00 for midnight in English. */
export const BY_24_HOURS = { hourCycle: 'h23' } as const;

/** The year, where it is another one than this. */
export function yearOf(date: Date): { year?: 'numeric' } {
  return date.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' };
}

function digits(size: number): string {
  return size.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}
