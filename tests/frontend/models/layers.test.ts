import type { IEstimate } from '../../../src/domain';
import { held, layerName, layerTree } from '../../../src/models/estimate/layers';

function layer(path: string, parameters: number, activations = 0) {
  return {
    path,
    type: 'Layer',
    parameters: parameters / 4,
    parameter_bytes: parameters,
    activation_bytes: activations,
    flops: 0
  };
}

describe('layerTree', () => {
  it('puts each layer below the one whose path it continues, in the given order', () => {
    const root = layerTree([
      layer('', 100, 8),
      layer('encoder', 90, 8),
      layer('encoder.layers.0', 40),
      layer('encoder.norm', 10),
      layer('head', 10)
    ]);
    expect(root?.children.map(node => node.name)).toEqual(['encoder', 'head']);
    expect(root?.children[0].children.map(node => node.name)).toEqual(['0', 'norm']);
    expect(root && held(root)).toBe(108);
  });

  it('is nothing where no model was seen', () => {
    expect(layerTree([])).toBeNull();
  });
});

test('a layer that is a number in a list is named with its type', () => {
  const layers = [layer('', 100), layer('0.2', 40), layer('blocks.3', 40), layer('head', 10)];
  const named = ['0.2', '3', 'blocks.3', 'head', ''].map(path =>
    layerName({ layers } as unknown as IEstimate, path)
  );
  expect(named).toEqual(['0.2: Layer', '3', 'blocks.3', 'head', '']);
});
