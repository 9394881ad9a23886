import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { changeStream, mustReadStream } from '../../../src/library/streams.ts'
import { complete, workOn } from '../../../src/library/worker.ts'
import { parseBody } from '../../../src/ops/transact/plan.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { summarize } from '../../../src/stream/summarize.ts'
import { LegacyStream, legacyFaults } from '../../support/xelement.ts'
import { HOLDER } from '../ops/support.ts'
import { storeWithText, textOf } from './support.ts'

const ORDER = readFileSync(new URL('../../../examples/library/order-of-2013.xml', import.meta.url), 'utf8')

/** A store with the document as a .NET program left it. */
const storeWithOrder = () =>
  storeWithText(new TextDecoder('utf-8', { ignoreBOM: true }).decode(new LegacyStream(ORDER).save()))

/** The changes of the .NET program to the current stream. */
async function legacy(store: StreamStore, write: (stream: LegacyStream) => void, rebuildEvents = false): Promise<void> {
  const stream = new LegacyStream(await textOf(store))
  write(stream)
  const body = stream.save({ rebuildEvents })
  const summary = summarize(parseBody(body, 's'), { nowMs: store.nowMs(), lastBy: '' })
  await store.update('s', () => ({ kind: 'put', body, summary }), { waitMs: 0, holder: HOLDER })
}

test('the example has the form of the .NET library', () => {
  const saved = new LegacyStream(ORDER).save({ bom: false, newline: '\n' })
  expect(new TextDecoder().decode(saved)).toBe(ORDER.trimEnd())
})

test('its stream is read like ours', async () => {
  const stream = await mustReadStream(await storeWithOrder(), 's')
  expect([stream.version, stream.born, stream.isDone]).toEqual([0, '', false])
  expect(stream.waitingOn.map(({ id }) => id)).toEqual(['02.00'])
  expect(stream.root.createdMs).toBe(Date.UTC(2013, 10, 22, 18, 23, 5))
  expect((await stream.select("./Event[@status='completed']")).map(({ msg }) => msg)).toEqual(['12 results'])
})

test.each([false, true])('both work on it in turn (events created again: %s)', async rebuild => {
  const store = await storeWithOrder()
  const forked = await changeStream(
    store,
    's',
    { by: 'ts' },
    s => void s.mustFind('02.00').advance({ forks: ['A', 'B'] }),
  )
  expect(forked).toMatchObject({ kind: 'done' })
  expect(legacyFaults(await textOf(store))).toEqual([])
  await legacy(store, stream => stream.setStatus('02.01.00', 'completed'), rebuild)
  expect(await workOn(store, 's', '02.02.00', { owner: 'ts' }, () => complete('ok'))).toMatchObject({
    kind: 'reported',
  })
  const stream = await mustReadStream(store, 's')
  expect([stream.isDone, stream.history.map(({ op }) => op)]).toEqual([
    true,
    ['adopt', 'advance', 'foreign', 'start', 'complete'],
  ])
  expect(legacyFaults(await textOf(store))).toEqual([])
  expect(new LegacyStream(await textOf(store)).attribute('00', 'status')).toBe('completed')
})

test('an event started by a foreign program is left to it, unless it is taken over', async () => {
  const store = await storeWithOrder()
  await legacy(store, stream => stream.setStatus('02.00', 'inprocess'))
  expect(await workOn(store, 's', '02.00', { owner: 'ts' }, () => complete())).toMatchObject({
    undone: { refusal: { code: 'foreign-worker' } },
  })
  const options = { owner: 'ts', takeOver: true }
  expect(await workOn(store, 's', '02.00', options, () => complete())).toMatchObject({ kind: 'reported' })
})
