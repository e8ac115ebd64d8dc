/** The model's tree out of the estimate's rows, which name each layer by its dotted path. */

import type { IEstimate, ILayerMemory } from '../../domain';

export interface ILayerNode extends ILayerMemory {
  /** Last part of the path; empty for the model itself. */
  name: string;
  children: ILayerNode[];
}

/** What a layer adds to the memory at the peak: its parameters and the activations that stand there. */
export function held(layer: ILayerMemory): number {
  return layer.parameter_bytes + layer.activation_bytes;
}

/** The root with all layers below it in the model's own order; null where no model was seen. */
export function layerTree(layers: readonly ILayerMemory[]): ILayerNode | null {
  const nodes = new Map<string, ILayerNode>();
  for (const layer of layers) {
    const name = layer.path.slice(layer.path.lastIndexOf('.') + 1);
    const node = { ...layer, name, children: [] };
    above(layer.path, nodes)?.children.push(node);
    nodes.set(layer.path, node);
  }
  return nodes.get('') ?? null;
}

/** A layer as people call it: a path without a word (`2`, `0.1`) says nothing without the layer's type. */
export function layerName({ layers }: IEstimate, path: string): string {
  const type = /^[\d.]+$/.test(path) && layers.find(one => one.path === path)?.type;
  return type ? `${path}: ${type}` : path;
}

/** The nearest layer above that has a row of its own: lists of layers may have none. */
function above(path: string, nodes: Map<string, ILayerNode>): ILayerNode | undefined {
  let rest = path;
  while (rest) {
    rest = rest.slice(0, Math.max(0, rest.lastIndexOf('.')));
    const node = nodes.get(rest);
    if (node) {
      return node;
    }
  }
  return undefined;
}
