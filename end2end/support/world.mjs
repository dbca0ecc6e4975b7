// A world of a test's own, for sentences that are about everything that arrives: a server, an upstream, partners with a key
// each, and callers of the kinds that must be told apart.
import { Agent, request } from 'node:http';

import { accept, arrive } from './people.mjs';
import { startToll } from './server.mjs';
import { declare, newKey } from './toll.mjs';
import { startUpstream } from './upstream.mjs';

/// `plans` are tables of the file by name, `routes` too, each with an upstream of its own at the one that `answer`s;
/// `partners` name their plan by slug. Ends with `close()`.
export async function openWorld({ plans, routes, partners, answer }) {
  const upstream = await startUpstream(answer);
  const toll = await startToll();
  const tables = [
    ...Object.entries(plans).map(([name, plan]) => `[[plan]]\nname = "${name}"\n${plan}`),
    ...Object.entries(routes).map(([name, { breaker, ...route }]) => `
[[upstream]]
name = "${name}"
urls = ["${upstream.url}/${name}"]
breaker = ${breaker ?? '{ failures = 1000, max_in_flight = 10000 }'}
[[route]]
name = "${name}"
path = "/${name}"
upstream = "${name}"
cache = ${route.cache ?? false}`),
    ...Object.entries(partners).map(([slug, plan]) => `[[partner]]\nslug = "${slug}"\nname = "${slug}"\nplan = "${plan}"`),
  ];
  declare(tables.join('\n'), toll.env);
  const keys = Object.fromEntries(Object.keys(partners).map((slug) => [slug, newKey(slug, 'test', toll.env)]));
  const agent = new Agent({ keepAlive: true });
  const world = {
    /// Requests that were answered so far.
    arrived: 0,
    url: (path) => new URL(path, toll.url).href,
    /// One GET of a partner; gives how it ended.
    get: async (slug, path, options) => {
      const outcome = await get(world.url(path), { headers: { 'x-api-key': keys[slug] }, agent, ...options });
      world.arrived += 1;
      return outcome;
    },
    /// One after the other, as a caller does that waits for its answers; gives how each ended.
    inTurn: async (slug, count, path) => {
      const outcomes = [];
      for (let n = 0; n < count; n += 1) outcomes.push(await world.get(slug, path(n)));
      return outcomes;
    },
    /// All at once.
    burst: (slug, count, path) => Promise.all(Array.from({ length: count }, (_, n) => world.get(slug, path(n)))),
    /// A page of an operator, or of a partner's person.
    signIn: (page, slug) => (slug ? arrive(page, slug, { env: toll.env }) : accept(page, toll.invitation, 'ada@example.com')),
    close: async () => {
      agent.destroy();
      upstream.close();
      await toll.stop();
    },
  };
  return world;
}

/// How many ended so.
export const count = (outcomes, outcome) => outcomes.filter((one) => one === outcome).length;

function get(url, options) {
  return new Promise((done, failed) => {
    const asked = request(url, options, (response) => {
      response.resume().on('end', () => done(response.headers['x-toll-outcome']));
    });
    asked.on('error', failed).end();
  });
}
