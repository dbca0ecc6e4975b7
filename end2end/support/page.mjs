// What every browser test wants of a page: no complaint in the console, nothing that axe finds, pictures of it.
import AxeBuilder from '@axe-core/playwright';
import { expect, test as base } from '@playwright/test';

export const url = (path) => new URL(path, process.env.TOLL_E2E_URL).href;
export const invitation = () => process.env.TOLL_E2E_INVITATION;

/// Like Playwright's, but a test fails if its page logged an error.
export const test = base.extend({
  page: async ({ page, javaScriptEnabled }, use) => {
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      // Without scripts nobody uses the module that the page asks for early.
      if (!javaScriptEnabled && /preloaded using link preload but not used/.test(message.text())) return;
      // A form was refused, and the page says why.
      if (/responded with a status of 422/.test(message.text())) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    await use(page);
    expect(complaints).toEqual([]);
  },
});

export async function expectAccessible(page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const told = violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(' ')} (${n.failureSummary})`).join('; ')}`);
  expect(told).toEqual([]);
}

/// "1 requests" and its like. Not "11 requests", nor "0.1 seconds"; and not verbs.
const MANY_FOR_ONE = /(?<![\d.,:])1 (?!was\b|has\b|does\b|is\b|across\b|less\b)[a-z]{2,}s\b/;

/// Pictures in artefacts/, at three widths in light and dark, for people to look at; axe looks at each.
export async function pictures(page, name) {
  // Six times axe and a picture of the whole page: slow where the machine has other work.
  base.setTimeout(180_000);
  expect(await page.getByRole('main').innerText()).not.toMatch(MANY_FOR_ONE);
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expectAccessible(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(overflow, `${name} scrolls sideways at ${width}`).toBe(0);
      await page.screenshot({ path: `artefacts/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
  }
}

export { expect };
