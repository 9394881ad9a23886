import { type TransactOptions, type TransactOutcome, transact } from '../../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { ChangeOutcome, Decision, Holder, StreamSnapshot, StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'

export const NOW = Date.UTC(2026, 10, 20, 12)
export const HOLDER: Holder = { by: 'tester', host: 'here', pid: 1, purpose: 'test', sinceMs: NOW }

/** A memory store with a clock that the test moves. */
export function memoryStore(): { store: StreamStore; advance: (ms: number) => void } {
  let nowMs = NOW
  return {
    store: openMemoryStore({ clock: () => nowMs, random: () => 0.5 }),
    advance(ms) {
      nowMs += ms
    },
  }
}

let commands = 0

/** `transact` with an actor and a fresh command id. */
export function run(
  store: StreamStore,
  name: string,
  operation: Operation,
  options: Partial<TransactOptions> = {},
): Promise<TransactOutcome> {
  commands++
  return transact(store, name, operation, { commandId: `test-${commands}`, by: 'tester', leaseWaitMs: 0, ...options })
}

/** @param born the incarnation id of the stream */
export function init(forks: readonly string[] = [], born = 'b0'): Operation {
  return { op: 'init', root: { name: 'Start' }, forks: forks.map(name => ({ name })), hold: false, born }
}

/** The result of an outcome that must be `done`. */
export function resultOf(outcome: TransactOutcome) {
  if (outcome.kind !== 'done') throw new Error(`expected done, got ${JSON.stringify(outcome)}`)
  return outcome.result
}

type Decide = (current: StreamSnapshot, nowMs: number) => Decision

/** A store whose changes pass through `around`: to lose answers, to count, to write in between. */
export function intercept(
  store: StreamStore,
  around: (name: string, decide: Decide, go: (decide: Decide) => Promise<ChangeOutcome>) => Promise<ChangeOutcome>,
): StreamStore {
  return new Proxy(store, {
    get(target, property) {
      if (property === 'update') {
        const update: StreamStore['update'] = (name, decide, options) =>
          around(name, decide, wrapped => target.update(name, wrapped, options))
        return update
      }
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Writes like a writer without journal and summary: replaces a text of the document. */
export async function writeForeign(store: StreamStore, name: string, from: string, to: string): Promise<void> {
  const decide: Decide = ({ body, summary }) => {
    if (summary === undefined) throw new Error('a stream of ours has a summary')
    return { kind: 'put', body: Buffer.from(Buffer.from(body).toString().replace(from, to)), summary }
  }
  await store.update(name, decide, { waitMs: 0, holder: HOLDER })
}
