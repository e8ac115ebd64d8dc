/** The colours of curves: JupyterLab's own variables, read anew with each theme. */

/** Brand colours are told apart in every theme, also by those who see no red or green. */
const CURVES = [
  '--jp-brand-color1',
  '--jp-warn-color1',
  '--jp-success-color1',
  '--md-purple-400',
  '--jp-error-color1',
  '--md-grey-500'
];

/** The colour of a curve for what is no canvas: a legend. */
export function curveColor(index: number): string {
  return `var(${CURVES[index % CURVES.length]})`;
}

/** Size of a chart's words beside those of the page. */
const SMALL = 0.82;

export interface IPalette {
  curve: (index: number) => string;
  text: string;
  grid: string;
  quiet: string;
  limit: string;
  /** What all of it is drawn on. */
  ground: string;
  font: string;
}

/** The colours as they are where `node` stands. */
export function palette(node: Element): IPalette {
  const style = getComputedStyle(node);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    curve: index => read(CURVES[index % CURVES.length]) || 'steelblue',
    text: read('--jp-ui-font-color2') || 'gray',
    // Fainter than any curve, also where a theme's borders are white.
    grid: `color-mix(in srgb, ${read('--jp-ui-font-color2') || 'gray'} 22%, transparent)`,
    quiet: read('--jp-ui-font-color3') || 'gray',
    limit: read('--jp-warn-color1') || 'darkorange',
    ground: read('--jp-layout-color1') || 'white',
    // A canvas knows pixels only.
    font: `${Math.round((parseFloat(style.fontSize) || 13) * SMALL)}px ${style.fontFamily || 'sans-serif'}`
  };
}

/** Calls `changed` when another theme was taken; answers how to stop that. */
export function onTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, { attributeFilter: ['data-jp-theme-name'] });
  return () => observer.disconnect();
}
