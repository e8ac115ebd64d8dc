/**
 * What makes the built front end smaller than the bundler does by itself.
 *
 * - One style sheet of all: what `index.raw.css` imports is put in its place, comments and spaces go, and it is a file
 *   of its own. In the scripts thirty modules with their wrappers and loaders would take a seventh.
 * - Each tag is a call of `React.createElement`, a property that no minifier shortens; a name of the module's own is.
 * - What most names of classes begin with stands once in a file that has several.
 * - A private member of a class, which only its own file may use, gets a short name: minifiers leave members alone.
 * - Of uPlot, which is one function with a switch for each thing, what no chart here shows is switched off, so that the
 *   minifier finds it unused: a fifth of it.
 * - What loads JupyterLab's packages knows one way of twelve to ask for one, that in which all of ours are asked for.
 */

const { readFileSync } = require('fs');
const { join } = require('path');
const { rspack } = require('@rspack/core');

/** What `tsc` made of the sources. */
const LIBRARY = join(__dirname, '..', 'lib');
const TAG = 'React.createElement(';
/** A member where it is used, or a method where it is written; `_n` of JupyterLab's `trans` is another's. */
const PRIVATE = /(?<=\.|^ {4}(?:async |get |set )?)_[a-z]\w+(?=\W)/gm;

/** Puts the files that a style sheet imports in their places, a package's too. */
function inlined(source) {
  return source.replace(/@import url\('(~?)([^']+)'\);/g, (_, isPackage, name) => {
    const file = isPackage ? require.resolve(name) : join(this.context, name);
    this.addDependency(file);
    const text = readFileSync(file, 'utf8');
    return isPackage ? without(UNSEEN, text) : text;
  });
}

/** Calls what makes a tag by a name of the module; imports are there before it. */
function withShortTags(source) {
  return source.includes(TAG)
    ? `const makeTag = React.createElement;${source.replaceAll(TAG, 'makeTag(')}`
    : source;
}

/** A name of classes as a text of its own, not as a key. */
const LOOK = /(['"])jp-PaddleGpu-([^'"\n]*)\1(?!\s*:)/g;
/** In files with fewer the beginning takes less than its name and what it is. */
const LOOKS = 4;

/** A beginning that no minifier can put back in its places: it does not know that React has a version. */
function withShortLooks(source) {
  return source.includes(TAG) && (source.match(LOOK) ?? []).length >= LOOKS
    ? `const looks = React.version && 'jp-PaddleGpu-';${source.replace(LOOK, '(looks + $1$2$1)')}`
    : source;
}

/** A private member that is taken out of its object, which would be looked for by its long name. */
const TAKEN = /\{[^{}]*\b_[a-z]\w+\s*[:,}=][^{}]*\} = this\b/;

/** Private members get numbers in the order in which a file names them. */
function withShortMembers(source) {
  const [taken] = TAKEN.exec(source) ?? [];
  if (taken) {
    throw new Error(`Private members are renamed after a dot only, write this._…: ${taken}`);
  }
  const names = [...new Set(source.match(PRIVATE))];
  return source.replace(PRIVATE, name => `_${names.indexOf(name).toString(36)}`);
}

/**
 * What uPlot can do and no chart here asks for: dates and logarithms on an axis, a legend, curved lines, helpers; points
 * that each have an x of their own, an x axis that stands upright, bands between curves, a part chosen by dragging, the
 * curve nearest to the pointer, what changes a chart that is there beyond its data, size and crosshair.
 */
const SWITCHED_OFF = [
  [/(?<=^const FEAT_TIME\s+= )true/m, 'false'],
  [/(?<=let isTime = )[^;]+/g, 'false'],
  [/^const \[ timeIncrs\w+, .+? = genTimeStuffs\(.+?\);$/gm, ''],
  [/^\tconst _time(?:AxisSplits|AxisVals|SeriesVal)\s*= .+;$/gm, ''],
  [/^\t?uPlot\.(?:(?:fmt|tz)Date|fmtNum|range\w+|orient|addGap|clipGaps)\s*= \w+;$/gm, ''],
  [/\b[\w.]*[dD]istr\s*[=>]=\s*(?:[234]|100)\b/g, 'false'],
  [/(?<=^\tconst showLegend = )legend\.show/m, 'false'],
  [/^\t\(paths\.(?:stepped|bars|spline)\s*= \w+\);$/gm, ''],
  [/\b(?:mode == 2|scaleX\.ori == 1)\b/g, 'false'],
  [/\b(?:mode == 1|scaleX\.ori == 0)\b/g, 'true'],
  [/\bflags != 0 (?=&& bands\.)/, 'false '],
  [/^\t\tonMouse\((?:mousedown|dblclick), .+;$/gm, ''],
  [/^\tevents\.(?:mousedown|mouseup|dblclick) = \w+;$/gm, ''],
  [/(?<=if \(|_dragging = |select\.show && )dragging\b/g, 'false'],
  [/(?<=const cursor(?:Focus|OnePt)\s*= ).+?(?=;)/g, 'false'],
  [
    /^\tself\.(?:(?:add|del)Series|batch|setS(?:cale|elect)|(?:add|set|del)Band|posTo\w+|valToIdx) = .+;$/gm,
    ''
  ]
];

/** How uPlot's legend and title look, and the letters of those: charts write theirs beside it or on the canvas. */
const UNSEEN = [
  [/\.u-(?:legend|inline|series|title)\b[^{}]*\{[^{}]*\}/g, ''],
  [/(?<=\.uplot \{)font-family:[^;]+;/, '']
];

/** How each of JupyterLab's packages is asked for: the one there is, held against a version, with none of our own. */
const ASKED =
  /, strictVersion: false, (singleton: true), eager: false, fallback: undefined, treeShakingMode: null/g;
/** The bundler's twelve ways of it: which one is to be taken was looked up for each package when a page is loaded. */
const WAYS = [
  [ASKED, ', $1'],
  [/ import: null,/g, ''],
  [
    /(?<=var resolveHandler = function\(data\) \{)[^]*?load\.apply\(null, args\); \}/,
    `var args = [data.shareScope, data.shareKey, parseRange(data.requiredVersion)];
return () => loadSingletonVersionCheck.apply(null, args);`
  ]
];

/** Leaves the other ways out, where each package is asked for as we know it. */
class OneWay {
  apply(compiler) {
    compiler.hooks.compilation.tap('OneWay', compilation =>
      compilation.hooks.runtimeModule.tap('OneWay', ({ name, source }) => {
        if (name === 'consumes_loading') {
          const text = String(source.source);
          if (text.match(/shareKey: /g).length !== text.match(ASKED)?.length) {
            throw new Error('A shared package is asked for in another way: see bundle.cjs.');
          }
          source.source = Buffer.from(without(WAYS, text));
        }
      })
    );
  }
}

/** Without what is unused; another version of a package in which one of these is not found is to be looked at. */
function without(unused, source) {
  return unused.reduce((left, [found, instead]) => {
    const next = left.replace(found, instead);
    if (next === left) {
      throw new Error(`Nothing is written like ${found} any more: see bundle.cjs.`);
    }
    return next;
  }, source);
}

module.exports = function (source) {
  if (this.resourcePath.endsWith('.css')) {
    return inlined.call(this, source);
  }
  return this.resourcePath.startsWith(LIBRARY)
    ? withShortMembers(withShortTags(withShortLooks(source)))
    : without(SWITCHED_OFF, source);
};
module.exports.plugins = [new OneWay()];
module.exports.optimization = {
  minimizer: [
    new rspack.SwcJsMinimizerRspackPlugin({
      minimizerOptions: { compress: { ecma: 2022, passes: 3 } }
    })
  ]
};
module.exports.module = {
  rules: [
    {
      test: /src\/style\/\w+\.raw\.css$/,
      enforce: 'pre',
      use: [
        // Nothing is rewritten for older browsers: `:has` is needed anyway, and nested rules are as old.
        {
          loader: 'builtin:lightningcss-loader',
          options: { minify: true, targets: 'chrome >= 121' }
        },
        { loader: __filename }
      ]
    },
    {
      test: /src\/style\/index\.raw\.css$/,
      enforce: 'pre',
      type: 'asset/resource',
      // With its version in the address, as scripts have it: the browser then keeps it.
      generator: { filename: 'style.[contenthash][ext]?v=[contenthash]' }
    },
    { test: /\.js$/, include: LIBRARY, enforce: 'pre', use: [{ loader: __filename }] },
    { test: /uPlot\.esm\.js$/, enforce: 'pre', use: [{ loader: __filename }] }
  ]
};
