// A shop of its own for the partner's pages: an upstream that answers, a plan and partners.
import { declare } from './toll.mjs';
import { startUpstream } from './upstream.mjs';

/// Partners whose plan takes `capacity` requests and refills slowly. Ends with `close()`.
export async function openShop(name, { partners, capacity = 60, refill = 1, maxKeys = 3, signUp = false }) {
  const upstream = await startUpstream();
  declare(`
[[upstream]]
name = "${name}"
urls = ["${upstream.url}"]

[[plan]]
name = "${name}"
capacity = ${capacity}
refill_per_second = ${refill}
max_keys = ${maxKeys}
routes = ["${name}"]
sign_up = ${signUp}

[[route]]
name = "${name}"
path = "/${name}"
upstream = "${name}"
methods = ["GET", "HEAD"]
${partners.map((slug) => `
[[partner]]
slug = "${slug}"
name = "${slug.toUpperCase()}"
plan = "${name}"
`).join('')}`);
  return upstream;
}
