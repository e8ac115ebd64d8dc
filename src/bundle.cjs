/**
 * What makes the built scripts smaller than the bundler does by itself.
 *
 * - One style sheet of all: what `index.css` imports is put in its place, and comments and spaces go. They are part of
 *   the page's JavaScript, where thirty modules with their wrappers would take a tenth of it.
 * - Each tag is a call of `React.createElement`, a property that no minifier shortens; a name of the module's own is.
 */

const { readFileSync } = require('fs');
const { join } = require('path');

/** What `tsc` made of the sources. */
const LIBRARY = join(__dirname, '..', 'lib');
const TAG = 'React.createElement(';

/** Puts the files that a style sheet imports in their places; a package's are left to the bundler. */
function inlined(source) {
  return source.replace(/@import url\('(?!~)([^']+)'\);/g, (_, name) => {
    const file = join(this.context, name);
    this.addDependency(file);
    return readFileSync(file, 'utf8');
  });
}

/** Calls what makes a tag by a name of the module; imports are there before it. */
function withShortTags(source) {
  return source.includes(TAG)
    ? `const makeTag = React.createElement;${source.replaceAll(TAG, 'makeTag(')}`
    : source;
}

module.exports = function (source) {
  return this.resourcePath.endsWith('.css')
    ? inlined.call(this, source)
    : withShortTags(source);
};
module.exports.module = {
  rules: [
    {
      test: /src\/style\/index\.css$/,
      enforce: 'pre',
      use: [
        // Nothing is rewritten for older browsers: container queries are needed anyway.
        {
          loader: 'builtin:lightningcss-loader',
          options: { minify: true, targets: 'chrome >= 112' }
        },
        { loader: __filename }
      ]
    },
    { test: /\.js$/, include: LIBRARY, enforce: 'pre', use: [{ loader: __filename }] }
  ]
};
