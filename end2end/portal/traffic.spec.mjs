// Traffic over time, and views that one takes along: charts, links, pictures, numbers.
import { demo } from '../support/toll.mjs';
import { expect, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });
test.beforeAll(() => { test.setTimeout(120_000); demo(); });

test('the demo shows at once who retries without waiting', async ({ page }) => {
  await page.goto(url('/ops?last=6h'));
  await expect(page.getByRole('list', { name: 'Verdicts' })).toContainText('hasty is retrying its own 429');
});

test('a click on a column opens the requests behind it', async ({ page }) => {
  // Two hours of the past, evenly busy.
  const minute = (hours) => `${new Date(Date.now() - hours * 3_600_000).toISOString().slice(0, 16)}Z`;
  await page.goto(url(`/ops?from=${minute(3)}&to=${minute(1)}&live=off`));
  const chart = page.locator('.traffic .canvas.drawn');
  await expect(chart).toBeVisible();
  await chart.scrollIntoViewIfNeeded();
  await page.waitForTimeout(500);
  const box = await chart.boundingBox();
  // A column, just above the ground: what reached the upstream. Columns have gaps, so a few places are tried.
  for (const dx of [0, 3, 6]) {
    await page.mouse.click(box.x + box.width / 2 + dx, box.y + box.height - 46).catch(() => {});
    await page.waitForTimeout(300);
    if (page.url().includes('/ops/requests')) break;
  }
  await expect(page).toHaveURL(/\/ops\/requests\?.*stage=proxy.*from=.*to=/);
  await expect(page.locator('table.requests tbody tr').first()).toBeVisible();
});

test('the chart is made once, follows the page and turns dark with it', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(url('/ops?last=6h&live=off'));
  const chart = page.locator('.traffic .canvas.drawn canvas').first();
  await expect(chart).toBeVisible();
  await page.waitForTimeout(500);
  const light = await chart.screenshot();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForTimeout(500);
  expect((await chart.screenshot()).equals(light)).toBe(false);
  await page.setViewportSize({ width: 500, height: 800 });
  await expect.poll(async () => (await chart.boundingBox()).width).toBeLessThan(500);
});

test('words in a chart leave each other room, however narrow the screen', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  for (const last of ['15m', '1h', '6h', '24h', '7d', '30d']) {
    await page.goto(url(`/ops?last=${last}&live=off`));
    await expect(page.locator('.traffic .canvas.drawn canvas').first()).toBeVisible();
    // Texts are drawn on a canvas: where they stand, only the chart can tell.
    const overlaps = await page.locator('.traffic .canvas').evaluate(async (canvas) => {
      await new Promise(requestAnimationFrame);
      const drawn = globalThis.echarts.getInstanceByDom(canvas).getZr().storage.getDisplayList(true);
      const words = drawn.filter(({ style, ignore, invisible }) => style?.text && !ignore && !invisible);
      const boxes = words.map((word) => {
        const box = word.getBoundingRect().clone();
        box.applyTransform(word.getComputedTransform?.() ?? word.transform);
        return { text: word.style.text, box };
      });
      const outside = boxes.filter(({ box }) => box.x < -1 || box.x + box.width > canvas.clientWidth + 1);
      const over = boxes.filter(({ box }, n) => boxes.slice(0, n).some((other) => other.box.intersect(box)));
      return { texts: boxes.length, outside: outside.map(({ text }) => text), over: over.map(({ text }) => text) };
    });
    expect(overlaps, last).toMatchObject({ outside: [], over: [] });
    expect(overlaps.texts, last).toBeGreaterThan(1);
  }
});

test('a snapshot names its window, and stays as it is', async ({ page }) => {
  await page.goto(url('/ops?last=6h'));
  await page.getByRole('link', { name: 'Snapshot' }).click();
  await expect(page).toHaveURL(/from=.*&to=.*&live=off/);
  const arrived = page.locator('.books').getByRole('row', { name: /^Arrived/ }).getByRole('cell').nth(1);
  const before = await arrived.textContent();
  await page.waitForTimeout(4000);
  expect(await arrived.textContent()).toBe(before);
  await expect(page.getByRole('link', { name: /^(Live|Paused)/ })).toHaveCount(0);
});

test('charts are saved as pictures that say what they show', async ({ page }) => {
  await page.goto(url('/ops?last=6h'));
  await page.getByRole('link', { name: 'Snapshot' }).click();
  await expect(page.locator('.canvas.drawn')).toHaveCount(3);
  // Words on a canvas cannot be read back: what the pictures are made of can.
  await page.evaluate(() => {
    globalThis.stills = [];
    const { init } = globalThis.echarts;
    globalThis.echarts.init = (...args) => {
      const chart = init(...args);
      const setOption = chart.setOption.bind(chart);
      chart.setOption = (option, how) => { globalThis.stills.push(option); return setOption(option, how); };
      return chart;
    };
  });
  const saved = {};
  page.on('download', async (download) => {
    saved[download.suggestedFilename()] = download;
    await download.saveAs(`artefacts/${download.suggestedFilename()}`);
  });
  await page.getByRole('button', { name: 'PNG' }).click();
  await expect.poll(() => Object.keys(saved).sort()).toEqual(['toll-funnel.png', 'toll-latency.png', 'toll-over-time.png']);
  const window = await page.locator('.when').textContent();
  expect(window).toMatch(/ \d{4}(, \d\d:\d\d)? UTC$/);
  const stills = await page.evaluate(() => globalThis.stills.map(({ title, legend }) => ({
    title: title.text, words: title.subtext.split('\n'), legend: legend.data.map(({ name }) => name),
  })));
  expect(stills.map(({ title }) => title).sort()).toEqual(['All traffic: latency at the upstream', 'All traffic: over time', 'All traffic: the funnel']);
  for (const { words } of stills) expect(words[0]).toBe(window);
  const traffic = stills.find(({ title }) => title.endsWith('over time'));
  expect(traffic.words[1]).toMatch(/^requests a minute by the stage where they ended, up to [\d,]+$/);
  const onPage = await page.locator('.traffic .legend li').allTextContents();
  expect(traffic.legend).toEqual(onPage);
  expect(stills.find(({ title }) => title.endsWith('funnel')).legend).toHaveLength(6);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('columns and table are there, and the numbers as a file', async ({ page }) => {
    await page.goto(url('/ops?last=6h'));
    await expect(page.locator('.traffic svg.columns')).toBeVisible();
    await page.locator('.traffic').getByText('As a table').click();
    await expect(page.locator('.traffic').getByRole('columnheader', { name: 'Quota' })).toBeVisible();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
    expect(file.suggestedFilename()).toMatch(/^toll-ops-.*\.csv$/);
    await page.locator('.legend').getByRole('link', { name: /^Quota/ }).click();
    await expect(page).toHaveURL(/\/ops\/requests\?last=6h&stage=quota/);
  });
});
