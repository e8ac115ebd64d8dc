/** Curves for every part of the interface. What draws on a canvas is loaded with the first chart. */

export { type ILineChartProps, LineChart } from './lineChart';
export { extent, type ILimit, type IMark, type ISeries, lastKnown } from './series';
export { Sparkline } from './sparkline';
export { BYTE_STEPS, CLOCK_STEPS, short } from './steps';
export { curveColor } from './theme';
