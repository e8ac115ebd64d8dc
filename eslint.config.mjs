import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/*.cjs',
      'lib/**',
      'labextension/**',
      'node_modules/**',
      'src/openapi.ts',
      'tests/ui/test-results/**'
    ]
  },
  js.configs.recommended,
  ...tseslint.configs.strict,
  {
    files: ['src/**/*.{ts,tsx}'],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    plugins: { jupyter },
    rules: {
      ...jupyter.configs.recommended[0].rules,
      // The panel stands in the sidebar from the start, so most of our scripts are needed at once.
      'jupyter/prefer-lazy-imports': 'off'
    }
  },
  {
    files: ['src/**/*.{js,ts,tsx}', 'tests/**/*.{ts,tsx}'],
    languageOptions: { globals: globals.browser },
    rules: {
      curly: 'error',
      eqeqeq: 'error',
      'no-console': 'error',
      'prefer-arrow-callback': ['error', { allowNamedFunctions: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports' }
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }
      ],
      // Namespaces beside classes and for command ids are JupyterLab's own habit.
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ]
    }
  },
  prettier
);
