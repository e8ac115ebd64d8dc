/** JupyterLab's themes, put on without its own switch, which takes seconds. */

import type { Page } from '@playwright/test';

/** By their packages. */
export const THEMES = {
  light: 'theme-light-extension',
  dark: 'theme-dark-extension',
  contrast: 'theme-dark-high-contrast-extension'
};

export type Theme = keyof typeof THEMES;

/** Mark of the sheets that are there to be worn. */
const WARDROBE = 'data-paddle-gpu-worn';

/**
 * Put a theme on as JupyterLab does, but beside the one that is worn: it is the later sheet that holds. Null takes it off
 * again. All are read at once, so that they hold where the server is away. What fades over is at its end afterwards.
 */
export async function wear(page: Page, theme: Theme | null): Promise<void> {
  await page.evaluate(
    async ([wanted, themes, mark]) => {
      const { dataset } = document.body;
      const sheets = () => [...document.querySelectorAll<HTMLLinkElement>(`link[${mark}]`)];
      if (!sheets().length) {
        dataset.own = JSON.stringify([dataset.jpThemeLight, dataset.jpThemeName]);
        await Promise.all(
          Object.entries(themes).map(([name, folder]) => {
            const sheet = document.createElement('link');
            sheet.setAttribute(mark, name);
            sheet.rel = 'stylesheet';
            sheet.media = 'not all';
            sheet.href = `/lab/api/themes/@jupyterlab/${folder}/index.css`;
            return new Promise((done, fail) => {
              sheet.onload = done;
              sheet.onerror = () => fail(new Error(sheet.href));
              document.body.append(sheet);
            });
          })
        );
      }
      for (const sheet of sheets()) {
        sheet.media = sheet.getAttribute(mark) === wanted ? 'all' : 'not all';
      }
      const [isLight, name] = wanted
        ? [String(wanted === 'light'), wanted]
        : (JSON.parse(dataset.own ?? '[]') as string[]);
      Object.assign(dataset, { jpThemeLight: isLight, jpThemeName: name });
      for (const one of document.getAnimations()) {
        if (one.effect?.getComputedTiming().endTime !== Infinity) {
          one.finish();
        }
      }
    },
    [theme, THEMES, WARDROBE] as const
  );
}
