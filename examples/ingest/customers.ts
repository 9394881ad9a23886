// Customers who send requests over HTTP, at a rate, and send one again until it is accepted: under the same id, so that it counts once.
import { Agent, request } from 'node:http'

export interface Sent {
  /** Requests that were accepted. */
  readonly accepted: number
  /** Answers 429 and 503, and connections that broke: each request was sent again. */
  readonly again: number
  /** From the moment at which a request was to be sent until it was accepted, ms. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly tookMs: number
}

const AGAIN_MS = 100
const ANSWER_MS = 10_000

/**
 * Sends `count` requests with the ids 0, 1, 2 …
 * @param url reads the address anew for each attempt: the server may have been started again
 * @param perSecond rate, whatever the answers do
 */
export async function sendRequests(url: () => string, count: number, perSecond: number): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const startMs = performance.now()
  const latencies: number[] = []
  let again = 0
  const order = async (id: number) => {
    const dueMs = startMs + (id * 1_000) / perSecond
    await sleep(dueMs - performance.now())
    const body = JSON.stringify({ id: String(id), customer: `c-${id % 100}` })
    while ((await post(url(), body, agent)) !== 202) {
      again += 1
      await sleep(AGAIN_MS)
    }
    latencies.push(performance.now() - dueMs)
  }
  await Promise.all(Array.from({ length: count }, (_, id) => order(id)))
  agent.destroy()
  latencies.sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(latencies[Math.floor(latencies.length * share)] ?? 0)
  const tookMs = Math.round(performance.now() - startMs)
  return { accepted: latencies.length, again, p50Ms: quantile(0.5), p99Ms: quantile(0.99), tookMs }
}

/** The status; 0 without an answer. */
function post(url: string, body: string, agent: Agent): Promise<number> {
  return new Promise(resolve => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const asked = request(url, { method: 'POST', agent, headers, timeout: ANSWER_MS }, response => {
      response.resume().on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0))
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(0)).end(body)
  })
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, Math.max(0, ms)))
}
