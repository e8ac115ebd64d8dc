/** Unit tests of models and components; the whole walk in a browser is in tests/ui. */
module.exports = {
  testEnvironment: 'jsdom',
  roots: ['<rootDir>/tests/frontend'],
  // Until a test gives up; five seconds, as else, are a busy machine's fault and not the test's.
  testTimeout: 60_000,
  setupFiles: ['<rootDir>/tests/frontend/setup.cjs'],
  moduleFileExtensions: ['ts', 'tsx', 'js', 'jsx', 'json'],
  moduleNameMapper: {
    '\\.css$': '<rootDir>/tests/frontend/empty.cjs',
    '\\.svg$': '<rootDir>/tests/frontend/empty.cjs'
  },
  transform: { '\\.[jt]sx?$': 'babel-jest' },
  // JupyterLab and what it stands on come as ES modules.
  transformIgnorePatterns: [
    '/node_modules/(?!(@jupyter|@jupyterlab|@lumino|@microsoft|@codemirror|@lezer|@marijn|@rjsf|lib0|y-protocols|y-websocket|yjs|exenv-es6|lodash-es|style-mod|w3c-keyname|crelt|nanoid|internmap|robust-predicates|d3.*|delaunator|marked|vscode-ws-jsonrpc|vscode-jsonrpc|color|color-.*)/)'
  ]
};
