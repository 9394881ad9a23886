import { describe, expect, it, test } from 'vitest'
import { type AlikeInit, AlikeStreams, RenderedDocument } from '../../../../src/ops/transact/alike-streams.ts'
import { applyGroup } from '../../../../src/ops/transact/plan.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { dataOf } from '../../../../src/stream/data.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { bytes, text } from '../../../contract/harness.ts'

const BY = 'ada@host'
const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')
const BORN = 'a8a46ec6-3d8c-49d8-a744-97b0c37ba821'
const PLAIN: AlikeInit = { op: 'init', root: { name: 'Order' }, forks: [], hold: false }
const JSON_INPUT = dataOf(bytes('{"n":1}'), 'application/json')

const INITS: readonly (readonly [string, AlikeInit])[] = [
  ['a root', PLAIN],
  ['a root with every text', { ...PLAIN, root: { name: 'A & "B"', key: '<k>', topic: 't\n', tag: 'ä', msg: 'x\ty' } }],
  ['a held root', { ...PLAIN, hold: true }],
  ['forks and a join', { ...PLAIN, forks: [{ name: 'A' }, { name: 'B', timeout: '00:10:00' }], join: { name: 'J' } }],
  [
    'a plan',
    {
      ...PLAIN,
      onFailure: 'compensate',
      steps: [
        { name: 'Pay', thread: 0, needs: [], retry: 'attempts=3' },
        { name: 'Ship', thread: 0, needs: [0], delay: '01:00:00', undo: 'Return' },
      ],
    },
  ],
  ['a session', { ...PLAIN, session: true }],
]

const INPUTS = [
  ['JSON', JSON_INPUT],
  ['marks of XML', dataOf(bytes('{"a":"<&>\\"\'"}\n\t'), 'application/json')],
  ['bytes', dataOf(new Uint8Array([0, 1, 255]), 'application/octet-stream')],
  ['nothing', dataOf(new Uint8Array(0), 'text/plain')],
] as const

/** The document of one stream as it is rendered alone. */
function alone(init: AlikeInit, commandId: string, input = JSON_INPUT, why?: string) {
  const operation = { ...init, root: { ...init.root, data: input }, born: BORN }
  const author = { commandId, by: BY, ...(why !== undefined && { why }) }
  const group = [{ operation, author, pin: {}, nonce: '12345678', born: 'another' }]
  const { decision } = applyGroup(group, { body: new Uint8Array(), versionFloor: 0 }, NOW_MS)
  if (decision.kind !== 'put') throw new Error('nothing to put')
  return { text: text(decision.body), summary: decision.summary }
}

describe('a rendered document is that of the stream rendered alone', () => {
  it.each(INITS)('%s', (_, init) => {
    const rendered = RenderedDocument.of(init, { by: BY }, NOW_MS)
    for (const [, input] of INPUTS) {
      const own = { born: BORN, commandId: 'inbox:orders:a"<b>&', nonce: '12345678', input }
      const { body, summary } = rendered?.with(own) ?? expect.fail('refused')
      expect({ text: text(body), summary }).toEqual(alone(init, own.commandId, input))
      expect(summarize(readDocument(text(body)), { nowMs: NOW_MS, lastBy: BY })).toEqual(summary)
    }
  })

  it('with a reason', () => {
    const rendered = RenderedDocument.of(PLAIN, { by: BY, why: 'because & so' }, NOW_MS)
    const { body } = rendered?.with({ born: BORN, commandId: 'c', nonce: '12345678', input: JSON_INPUT }) ?? {}
    expect(text(body ?? new Uint8Array())).toBe(alone(PLAIN, 'c', JSON_INPUT, 'because & so').text)
  })
})

test('an operation that is refused is not rendered', () => {
  const looped = { ...PLAIN, steps: [{ name: 'A', thread: 0, needs: [0] }] }
  expect(RenderedDocument.of(looped, { by: BY }, NOW_MS)).toBeUndefined()
})

/** A store that creates streams in another way. */
function creating(store: StreamStore, create: StreamStore['create']): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = key === 'create' ? create : Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('streams that are alike', () => {
  const create = (streams: AlikeStreams, id: string, name = `d/${id}`) => streams.create(name, JSON_INPUT, `c:${id}`)

  it('are created with one request each, and once for a command', async () => {
    const store = openMemoryStore()
    const created: string[] = []
    const counted = creating(store, (name, ...rest) => {
      created.push(name)
      return store.create(name, ...rest)
    })
    const streams = new AlikeStreams(counted, PLAIN, { by: BY })
    const kinds: string[] = []
    for (const id of ['1', '2', '3']) kinds.push((await create(streams, id)).kind)
    expect(kinds).toEqual(['done', 'created', 'created'])
    expect(created).toEqual(['d/1', 'd/2', 'd/3'])
    expect(await create(streams, '2')).toMatchObject({ kind: 'done', result: { duplicate: true } })
    expect(await create(streams, '4', 'd/2')).toMatchObject({ kind: 'refused', refusal: { code: 'exists' } })
    expect(created.slice(3)).toEqual(['d/2', 'd/2'])
  })

  it('have ids and times of their own', async () => {
    let nowMs = NOW_MS
    const store = openMemoryStore({ clock: () => nowMs })
    const streams = new AlikeStreams(store, PLAIN, { by: BY })
    for (const id of ['1', '2', '3', '4']) {
      await create(streams, id)
      nowMs += 7
    }
    const summaries = await Promise.all(['1', '2', '3', '4'].map(async id => (await store.read(`d/${id}`))?.summary))
    expect(summaries.map(summary => (summary?.createdMs ?? 0) - NOW_MS)).toEqual([0, 7, 7, 21])
    expect(new Set(summaries.map(summary => summary?.born)).size).toBe(4)
  })

  it('are created in the usual way if their data does not stand in them', async () => {
    const store = openMemoryStore()
    const streams = new AlikeStreams(store, PLAIN, { by: BY })
    await create(streams, '1')
    const large = dataOf(new Uint8Array(10_000), 'application/octet-stream')
    expect(await streams.create('d/2', large, 'c:2')).toMatchObject({ kind: 'done', result: { duplicate: false } })
  })

  it.each([
    ['', 'c:2', /name/],
    ['.leasectl/x', 'c:2', /reserved/],
    ['d/2', 'a\nb', /command id/],
  ])('%j %j is refused as ever', async (name, commandId, message) => {
    const streams = new AlikeStreams(openMemoryStore(), PLAIN, { by: BY })
    await create(streams, '1')
    await expect(streams.create(name, JSON_INPUT, commandId)).rejects.toThrow(message)
  })

  it.each([true, false])('a creation without an answer is made once; applied: %s', async isApplied => {
    const store = openMemoryStore()
    let lost = 0
    const losing = creating(store, async (name, ...rest) => {
      if (name !== 'd/2' || lost > 0) return store.create(name, ...rest)
      lost += 1
      if (isApplied) await store.create(name, ...rest)
      return { kind: 'unknown', cause: new StoreUnreachable('no answer') }
    })
    const streams = new AlikeStreams(losing, PLAIN, { by: BY })
    await create(streams, '1')
    expect(await create(streams, '2')).toMatchObject({ kind: 'done', result: { duplicate: isApplied } })
    expect(lost).toBe(1)
    expect((await store.read('d/2'))?.summary?.version).toBe(1)
  })
})
