import { connect, type Socket } from 'node:net'

/** Sends records over keep-alive connections, at a rate or as fast as they are answered. Prints its figures as JSON. */

const [port, path, perSecond, seconds, connections, recordsEach, prefix] = process.argv.slice(2)
const RATE = Number(perSecond)
const DURATION_MS = Number(seconds) * 1_000
const EACH = Number(recordsEach)
const FILLER = 'x'.repeat(960)
/** After the last request, ms. */
const PATIENCE_MS = 20_000

const statuses = new Map<number, number>()
const latencies: number[] = []
const idle: Connection[] = []
/** When the requests that wait for a connection should have been sent, ms. */
let waiting: number[] = []
let taken = 0
let sent = 0
let failed = 0
let unsent = 0
let next = 0

function record(): string {
  const id = `${prefix}${next++}`
  return `{"id":"${id}","key":"k${next % 1_000}","x":"${FILLER}"}`
}

function requestText(): string {
  const type = EACH === 1 ? 'application/json' : 'application/x-ndjson'
  const body = EACH === 1 ? record() : `${Array.from({ length: EACH }, record).join('\n')}\n`
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

class Connection {
  #socket: Socket | undefined
  #dueMs = 0
  #text = ''

  send(dueMs: number): void {
    this.#dueMs = dueMs
    sent += 1
    this.#socket ??= this.#open()
    this.#socket.write(requestText(), 'latin1')
  }

  #open(): Socket {
    const socket = connect(Number(port), '127.0.0.1').setNoDelay().setEncoding('latin1')
    socket.on('data', text => this.#received(String(text)))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#socket = undefined
      if (this.#dueMs === 0) return
      failed += 1
      this.#free()
    })
    return socket
  }

  #received(text: string): void {
    this.#text += text
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(this.#text)?.[1] ?? 0)
    if (this.#text.length < end + 4 + length) return
    const status = Number(this.#text.slice(9, 12))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    latencies.push(performance.now() - this.#dueMs)
    this.#free()
  }

  #free(): void {
    this.#text = ''
    this.#dueMs = 0
    idle.push(this)
    pump()
  }
}

const startMs = performance.now()
const isOver = () => performance.now() - startMs >= DURATION_MS

function pump(): void {
  while (idle.length > 0) {
    const dueMs = RATE > 0 ? waiting[taken] : isOver() ? undefined : performance.now()
    if (dueMs === undefined) return
    taken += RATE > 0 ? 1 : 0
    idle.pop()?.send(dueMs)
  }
}

let planned = 0
function tick(): void {
  const elapsedMs = Math.min(performance.now() - startMs, DURATION_MS)
  for (; RATE > 0 && planned < (elapsedMs * RATE) / 1_000; planned++) waiting.push(startMs + (planned * 1_000) / RATE)
  if (taken > 100_000) {
    waiting = waiting.slice(taken)
    taken = 0
  }
  pump()
}

for (let at = 0; at < Number(connections); at++) idle.push(new Connection())
const timer = setInterval(() => {
  tick()
  const isDone = isOver() && taken >= waiting.length && idle.length === Number(connections)
  const lateMs = performance.now() - startMs - DURATION_MS
  if (lateMs > PATIENCE_MS) giveUp()
  if (isDone || lateMs > 2 * PATIENCE_MS) finish()
}, 2)
tick()

/** Sends no more, but waits for the answers to what was sent. */
function giveUp(): void {
  unsent += waiting.length - taken
  waiting = waiting.slice(0, taken)
}

function finish(): void {
  clearInterval(timer)
  const tookMs = performance.now() - startMs
  const sorted = Float64Array.from(latencies).sort()
  const quantile = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
  const unanswered = sent - latencies.length - failed
  const figures = {
    ...{ sent, unsent: unsent + waiting.length - taken, failed, unanswered, tookMs: Math.round(tookMs) },
    ...{ p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: Math.round(sorted.at(-1) ?? 0) },
    statuses: Object.fromEntries(statuses),
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0))
}
