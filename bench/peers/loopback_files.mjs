// A plain server on loopback for the row about fetch: /small, and /large of 1 MB. Prints its port.
import { createServer } from 'node:http';

const bodies = { '/small': Buffer.from('hello'), '/large': Buffer.alloc(1_000_000, 'x') };
const server = createServer((request, response) => response.end(bodies[request.url] ?? ''));
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1');
