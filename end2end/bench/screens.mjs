// `node screens.mjs URL OPS-INVITATION PARTNER-INVITATION`: the milliseconds of each screen, a line each: path, median, 95th.
// Over a connection that is kept, so that what is measured is the server's work for a page.
import { Agent, request } from 'node:http';

const [url, ops, partner] = process.argv.slice(2);
const rounds = Number(process.env.BENCH_ROUNDS ?? 25);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function ask(path, { method = 'GET', cookie = '', body = '' } = {}) {
  return new Promise((done, failed) => {
    const headers = { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' };
    if (body) headers['content-type'] = 'application/x-www-form-urlencoded';
    const asked = request(new URL(path, url), { agent, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => { text += piece; }).on('end', () => done({ answer, text }));
    });
    asked.on('error', failed).end(body);
  });
}

async function signedIn(invitation, email) {
  const body = new URLSearchParams({ token: invitation.split('/').pop(), email, password: 'nine lives are enough' });
  const { answer } = await ask('/_fn/accept_invitation', { method: 'POST', body: body.toString() });
  const cookie = answer.headers['set-cookie']?.[0].split(';')[0];
  if (!cookie) throw new Error(`${invitation} does not sign in: ${answer.statusCode}`);
  return cookie;
}

async function measure(path, cookie) {
  const times = [];
  for (let round = -3; round < rounds; round += 1) {
    const from = performance.now();
    const { answer, text } = await ask(path, { cookie });
    if (answer.statusCode === 404) {
      console.error(`bench: there is no ${path}`);
      return;
    }
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
    if (round >= 0) times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
  console.log([path, at(0.5), at(0.95)].join('\t'));
}

const screens = {
  ops: ['/ops', '/ops/partners', '/ops/partners/partner-7', '/ops/routes', '/ops/upstreams', '/ops/cache', '/ops/latency', '/ops/requests', '/ops/audit', '/ops/people', '/account'],
  partner: ['/portal', '/portal/keys', '/portal/requests', '/portal/docs', '/portal/people'],
};
for (const [who, cookie] of [['ops', await signedIn(ops, 'ada@example.com')], ['partner', await signedIn(partner, '')]]) {
  for (const path of screens[who]) for (const last of ['1h', '24h', '7d', '30d']) await measure(`${path}?last=${last}`, cookie);
}
agent.destroy();
