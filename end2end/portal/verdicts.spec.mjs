// The three cases that must be told apart at one look, from real traffic through the real gateway: a partner retrying its own
// 429, a cache that does not earn its keep, an upstream that is quiet because its breaker is open. And the contrary: what
// looks like a partner's fault and is none accuses nobody.
import { expect, test } from '../support/page.mjs';
import { count, openWorld } from '../support/world.mjs';

test.use({ storageState: { cookies: [], origins: [] } });

const AMPLE = 'capacity = 100000\nrefill_per_second = 0.0';

/// What the page says, once it says this; the page keeps itself current.
async function expectVerdict(page, sentence) {
  await expect(page.locator('.verdicts li').filter({ hasText: sentence })).toBeVisible({ timeout: 20_000 });
}

/// Opens a page of the last 15 minutes, and waits until everything that was sent is in its books.
async function open(page, world, path, arrived) {
  await page.goto(world.url(`${path}?last=15m`));
  const cell = page.locator('.books').getByRole('row', { name: /^Arrived/ }).getByRole('cell').nth(1);
  await expect(cell).toHaveText(arrived.toLocaleString('en'), { timeout: 20_000 });
}

test.describe('a cause is named', () => {
  test.describe.configure({ mode: 'serial' });

  let world;
  let ops;
  test.beforeAll(async ({ browser }) => {
    test.setTimeout(120_000);
    world = await openWorld({
      plans: { tight: 'capacity = 5\nrefill_per_second = 0.01', ample: AMPLE },
      routes: {
        orders: {},
        search: { cache: true },
        billing: { breaker: '{ failures = 5, window = "10s", open_for = "600s" }' },
      },
      partners: { hasty: 'tight', globex: 'ample', initech: 'ample' },
      answer: (request, response) => {
        if (request.url.startsWith('/search')) response.setHeader('cache-control', 'max-age=600');
        if (request.url.startsWith('/billing')) response.statusCode = 503;
        response.end('body');
      },
    });
    const page = await browser.newPage();
    await world.signIn(page);
    ops = await page.context().storageState();
    await page.close();
  });
  test.afterAll(() => world.close());
  test.beforeEach(({ context }) => context.addCookies(ops.cookies));

  test('a partner that retries its own 429, to operators and to itself', async ({ page, browser }) => {
    const outcomes = await world.inTurn('hasty', 80, () => '/api/orders/7');
    expect(count(outcomes, 'forwarded')).toBe(5);
    const early = count(outcomes, 'quota_early_retry');
    const refusals = early + count(outcomes, 'quota_spent');
    await page.goto(world.url('/ops?last=15m'));
    await expectVerdict(page, `hasty is retrying its own 429: ${early} of its ${refusals} refusals came before the Retry-After it was given, `);
    const first = page.locator('.verdicts li').first();
    await expect(first).toContainText('hasty is retrying its own 429');
    await expect(first.getByRole('link')).toHaveAttribute('href', /^\/ops\/requests\?last=15m&stage=quota&outcome=quota_early_retry&partner=hasty$/);

    const mine = await browser.newPage();
    await world.signIn(mine, 'hasty');
    await mine.goto(world.url('/portal?last=15m'));
    await expectVerdict(mine, new RegExp(`^${early} of your ${refusals} refusals were retries sent too early: you waited \\d+ m?s, we asked for \\d+ s\\.`));
    await mine.close();
  });

  test('a cache that is asked for everything once', async ({ page }) => {
    const outcomes = await world.inTurn('globex', 120, (n) => `/api/search/${n}`);
    expect(count(outcomes, 'forwarded')).toBe(120);
    await page.goto(world.url('/ops?last=15m'));
    await expectVerdict(page, 'The cache on search earns nothing: 0 hits in 120; 120 were asked for the first time.');
  });

  test('an open breaker, to operators and to whom it holds back', async ({ page, browser }) => {
    const failed = await world.inTurn('globex', 5, () => '/api/billing/7');
    expect(count(failed, 'forwarded')).toBe(5);
    // Until the node has seen its own transition.
    let mine = 0;
    await expect.poll(async () => {
      const outcome = await world.get('initech', '/api/billing/7');
      mine += outcome === 'breaker_open' ? 1 : 0;
      return outcome;
    }).toBe('breaker_open');
    const others = count(await world.inTurn('globex', 20, () => '/api/billing/7'), 'breaker_open');
    mine += count(await world.inTurn('initech', 11, () => '/api/billing/7'), 'breaker_open');
    expect([others, mine]).toEqual([20, 12]);
    await page.goto(world.url('/ops?last=15m'));
    await expectVerdict(page, /^billing got nothing since .*\d\d:\d\d:\d\d because its breaker is open \(5 failures in 10 s, the last: status 503\); 32 requests of 2 partners were held back\./);

    const theirs = await browser.newPage();
    await world.signIn(theirs, 'initech');
    await theirs.goto(world.url('/portal?last=15m'));
    await expectVerdict(theirs, /^billing has been unavailable since .*\d\d:\d\d:\d\d: 12 of your requests were held back to let it recover\. It is not your doing\./);
    await theirs.close();
  });

  test('all three on one page, and nobody else by name', async ({ page }) => {
    await open(page, world, '/ops', world.arrived);
    const said = page.locator('.verdicts li');
    await expect(said).toHaveCount(3);
    for (const innocent of ['globex', 'initech']) await expect(said.filter({ hasText: innocent })).toHaveCount(0);
  });
});

test.describe('nobody is accused', () => {
  test.describe.configure({ mode: 'serial' });

  const growing = Array.from({ length: 12 }, (_, n) => `shop-${n}`);
  const accusation = /retrying its own 429|retries sent too early/;

  let world;
  let ops;
  test.beforeAll(async ({ browser }) => {
    test.setTimeout(120_000);
    world = await openWorld({
      plans: { limited: 'capacity = 20\nrefill_per_second = 0.01', ample: AMPLE },
      routes: { orders: {}, flaky: {} },
      partners: { nightly: 'limited', fleet: 'limited', victim: 'limited', ...Object.fromEntries(growing.map((slug) => [slug, 'ample'])) },
      answer: (request, response) => {
        if (request.url.startsWith('/flaky')) response.statusCode = 503;
        response.end('body');
      },
    });
    const page = await browser.newPage();
    await world.signIn(page);
    ops = await page.context().storageState();
    await page.close();
  });
  test.afterAll(() => world.close());
  test.beforeEach(({ context }) => context.addCookies(ops.cookies));

  /// Whatever the page says, it names none of these partners.
  async function expectNobodyAccused(page, ...partners) {
    await open(page, world, '/ops', world.arrived);
    const main = page.getByRole('main');
    await expect(main.locator('.verdicts, .verdict').first()).toBeVisible();
    const said = await main.locator('.verdicts, .verdict').allTextContents();
    for (const text of said) {
      expect(text).not.toMatch(accusation);
      for (const partner of partners) expect(text).not.toContain(partner);
    }
  }

  test('for a burst of first attempts', async ({ page, browser }) => {
    const outcomes = await world.burst('nightly', 250, () => '/api/orders/7');
    expect(count(outcomes, 'forwarded')).toBe(20);
    await expectNobodyAccused(page, 'nightly');
    const mine = await browser.newPage();
    await world.signIn(mine, 'nightly');
    await open(mine, world, '/portal', 250);
    await expectVerdict(mine, /^230 of your 250 requests went beyond your quota/);
    await mine.close();
  });

  test('for partners that grow together', async ({ page }) => {
    for (const slug of growing) await world.burst(slug, 40, (n) => `/api/orders/${n}`);
    await expectNobodyAccused(page, ...growing);
  });

  test('for a fleet of many addresses on one key', async ({ page }) => {
    const outcomes = [];
    // Each machine asks once, one machine after the other.
    for (let machine = 2; machine < 152; machine += 1) {
      outcomes.push(await world.get('fleet', '/api/orders/7', { localAddress: `127.0.0.${machine}`, agent: false }));
    }
    expect(count(outcomes, 'quota_spent')).toBeGreaterThanOrEqual(120);
    expect(count(outcomes, 'quota_early_retry')).toBe(0);
    await expectNobodyAccused(page, 'fleet');
  });

  test('for retries of what an upstream answered with 5xx', async ({ page }) => {
    const outcomes = await world.inTurn('victim', 100, () => '/api/flaky/7');
    // The label alone would accuse.
    expect(count(outcomes, 'quota_early_retry')).toBeGreaterThanOrEqual(50);
    await expectNobodyAccused(page, 'victim');
    await expectVerdict(page, /^flaky answered 100 % of what it got with 5xx since /);
  });
});
