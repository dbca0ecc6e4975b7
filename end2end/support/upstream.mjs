// A real upstream, answering as a test likes.
import { createServer } from 'node:http';

/// On a free port. `answer` is given request and response; without it all is well. Ends with `close()`.
export async function startUpstream(answer = echo) {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function echo(request, response) {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ path: request.url }));
}
