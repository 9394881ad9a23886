import { expect, test } from 'vitest'
import { transact } from '../../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { ChangeOutcome, RemoveOutcome, StreamStore } from '../../../src/store/store.ts'
import { check } from '../history/checker.ts'
import { type Asked, type HistoryLine, HistoryWriter } from '../history/history.ts'
import { changeOf, creation } from './load.ts'
import { settle } from './settle.ts'
import { withMethods } from './unprotected.ts'

const NAME = 'a'
const BORN = 'life of a'
const lease = { state: 'leased', durationS: 15 } as const
const VAIN = ['unreachable', { kind: 'held', lease, waitedMs: 0 }, { kind: 'unknown', cause: '' }] as const
type Vain = (typeof VAIN)[number]

/** A stream that was created, and then changed or removed by a writer that got no answer. */
async function inDoubt(doubtful: 'change' | 'remove'): Promise<{ store: StreamStore; lines: HistoryLine[] }> {
  const store = openMemoryStore()
  const lines: HistoryLine[] = []
  const history = new HistoryWriter('w', line => lines.push(line))
  const answer = history.ask(NAME, { what: 'change', id: 'first', born: BORN })
  await transact(store, NAME, creation(BORN), { commandId: 'first', by: 'w' })
  answer({ kind: 'done', version: 1 })
  const etag = (await store.read(NAME))?.etag ?? ''
  const removal: Asked = { what: 'remove', born: BORN, journal: [{ version: 1, id: 'first' }], etag }
  history.ask(NAME, doubtful === 'change' ? { what: 'change', id: 'second', born: BORN } : removal)
  if (doubtful === 'change') await transact(store, NAME, changeOf('second'), { commandId: 'second', by: 'w' })
  return { store, lines }
}

/** Gives each of the answers once, then executes the request. */
function reluctant(store: StreamStore, answers: readonly Vain[]): StreamStore {
  const left = [...answers]
  const next = <Outcome>(go: () => Promise<Outcome>): Promise<Outcome | Exclude<Vain, string>> => {
    const answer = left.shift()
    if (answer === 'unreachable') return Promise.reject(new StoreUnreachable('busy'))
    return answer === undefined ? go() : Promise.resolve(answer)
  }
  return withMethods(store, {
    update: (...args) => next<ChangeOutcome>(() => store.update(...args)),
    remove: (...args) => next<RemoveOutcome>(() => store.remove(...args)),
  })
}

test.each(['change', 'remove'] as const)('a %s in doubt is repeated until its answer resolves it', async what => {
  const { store, lines } = await inDoubt(what)
  const { calls, streams } = await settle(reluctant(store, VAIN), [NAME], lines)
  expect(calls.at(-1)?.told).toEqual({ kind: 'done', version: what === 'change' ? 2 : 1 })
  expect(check(calls, streams)).toMatchObject({ violations: [], unresolved: [] })
})

test.each(['change', 'remove'] as const)('a %s that is never resolved stays unresolved', async what => {
  const { store, lines } = await inDoubt(what)
  const { calls, streams } = await settle(reluctant(store, new Array(99).fill(VAIN[2])), [NAME], lines)
  expect(calls.at(-1)?.told).toEqual({ kind: 'unknown' })
  expect(check(calls, streams)).toMatchObject({ violations: [], unresolved: [expect.any(String)] })
})
