/** Where Tab stops in what is drawn. */

const PLACES = 'input, select, textarea, summary, button, a';

export function tabStops(root: Element): HTMLElement[] {
  const places = [...root.querySelectorAll<HTMLInputElement>(PLACES)].filter(
    node => !node.disabled && node.getClientRects().length > 0
  );
  // Of radios of one name it is the checked one; where none is, as once devices are chosen, the first.
  return places.filter(node => {
    const group = places.filter(({ type, name }) => type === 'radio' && name === node.name);
    return node.type !== 'radio' || node === (group.find(one => one.checked) ?? group[0]);
  });
}
