import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CannedListing } from './list-pages.ts'

/** A process that answers List Blobs like the Blob service. */
export interface ListServer {
  readonly port: number
  stop(): void
}

/** Starts a server with this many streams in a separate process, so that its work does not count here. */
export async function startListServer(streams: number): Promise<ListServer> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), String(streams)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    return { port: Number(line), stop: () => child.kill() }
  }
  throw new Error('the list server ended before it listened')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(Number(process.argv[2]))

async function serve(streams: number): Promise<void> {
  const listing = await CannedListing.of(streams)
  const server = createServer((request, response) => void answer(listing, request, response))
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
  // The parent process is gone.
  process.stdin.on('end', () => process.exit()).resume()
}

/** In chunks, like the pages of the service. */
async function answer(listing: CannedListing, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = new URL(request.url ?? '', 'http://host').searchParams
  const from = query.has('marker') ? Number(query.get('marker')) : listing.firstFrom(query.get('startFrom') ?? '')
  const page = listing.page(from, Number(query.get('maxresults') ?? 5_000))
  response.writeHead(200, { 'content-type': 'application/xml', 'x-ms-request-id': randomUUID() })
  for (let at = 0; at < page.length; at += 65_536) {
    if (!response.write(page.subarray(at, at + 65_536))) await new Promise(resolve => response.once('drain', resolve))
  }
  response.end()
}
