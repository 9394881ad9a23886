import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../support/faults.ts'
import { CLAIM_MS, EVENT, FENCE, type Life, type LivesSetting, livesOf, OWNER, type Signs } from './lives.ts'

/**
 * The worker of all events of a play: keeps them alive with jittered heartbeats, some only for a while. Arguments: the
 * built library, store address, setting as JSON. Prints `{"startedMs":…}` with the first moment of the play; after a line
 * on standard input, or its end, its knowledge of each event.
 */
const [library = '', address = '', json = ''] = process.argv.slice(2)
const setting: LivesSetting = JSON.parse(json)
const { openStore, transact }: typeof import('../../../src/index.ts') = await import(library)

/** After a heartbeat that may not have been written the next one follows soon. */
const AGAIN_MS = 200
/** The number sent in parallel: a slow store delays them, and is not slowed down by them. */
const AT_ONCE = 8

const store = await openStore(address, process.env)
const random = seededRandom(setting.seed + 1)
const asked = createInterface({ input: process.stdin })
const end = new AbortController()
for (const event of ['line', 'close']) asked.once(event, () => end.abort())

const signs = new Map<string, Signs>()
const waiting: (() => void)[] = []
let free = AT_ONCE
const startedAt = performance.now()
process.stdout.write(`${JSON.stringify({ startedMs: store.nowMs() })}\n`)
await Promise.all(livesOf(setting).map(keepAlive))
await store.close()
process.stdout.write(`${JSON.stringify([...signs.values()])}\n`)
asked.close()

/** The first heartbeat comes at a random time of its interval, so that they do not coincide. */
async function keepAlive({ stream, timeoutMs, beat: [least, most], silentAfterMs }: Life): Promise<void> {
  const untilAt = startedAt + (silentAfterMs ?? Number.POSITIVE_INFINITY)
  let nextAt = startedAt + random() * least * timeoutMs
  while (nextAt < untilAt) {
    await sleep(Math.max(0, nextAt - performance.now()), undefined, { signal: end.signal }).catch(() => {})
    if (end.signal.aborted) return
    await turn()
    const taken = await showLife(stream).finally(next)
    if (taken === 'refused') return
    nextAt = performance.now() + (taken === 'done' ? (least + random() * (most - least)) * timeoutMs : AGAIN_MS)
  }
}

async function turn(): Promise<void> {
  if (free > 0) free -= 1
  else await new Promise<void>(resolve => waiting.push(resolve))
}

function next(): void {
  const first = waiting.shift()
  if (first === undefined) free += 1
  else first()
}

async function showLife(stream: string): Promise<'done' | 'refused' | 'doubtful'> {
  const touch = { op: 'touch', event: EVENT, claimMs: CLAIM_MS, owner: OWNER, fence: FENCE } as const
  const known = signs.get(stream) ?? { stream, lastMs: 0, count: 0, doubtfulMs: null, refused: null }
  try {
    const outcome = await transact(store, stream, touch, { commandId: randomUUID(), by: OWNER })
    if (outcome.kind === 'done' && outcome.result.claim !== undefined) {
      // the time of the write, as the document has it
      const lastMs = Date.parse(outcome.result.claim.until) - CLAIM_MS
      signs.set(stream, { ...known, lastMs, count: known.count + 1 })
      return 'done'
    }
    if (outcome.kind === 'refused') {
      signs.set(stream, { ...known, refused: outcome.refusal.code })
      return 'refused'
    }
  } catch {
    // as uncertain as one without an answer
  }
  signs.set(stream, { ...known, doubtfulMs: store.nowMs() })
  return 'doubtful'
}
