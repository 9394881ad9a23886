import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createInbox } from '../../src/inbox/inbox.ts'
import { InboxWriter } from '../../src/inbox/writer.ts'
import { readStream } from '../../src/ops/read-stream.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { newUser, type User } from './program.ts'

let user: User
beforeEach(async () => {
  user = await newUser()
})
afterEach(() => user.leave())

interface Place {
  readonly store: StreamStore
  readonly address: string
}

const PLACES: readonly (readonly [string, () => Promise<Place>])[] = [
  [
    'SQLite',
    async () => {
      const address = `sqlite:${join(user.home, 'a.db')}`
      return { address, store: await openStore(address, {}) }
    },
  ],
  [
    'Azurite',
    async () => {
      const { port } = await sharedAzurite()
      const store = await openAzuriteStore(port)
      return { store, address: `azurite://127.0.0.1:${port}/${store.container}` }
    },
  ],
]

async function names(store: StreamStore, prefix: string): Promise<string[]> {
  const found: string[] = []
  for await (const page of store.list({ prefix })) found.push(...page.map(({ name }) => name))
  return found.sort()
}

/** Enough for a kill in their midst. */
const RECORDS = 160
const ids = (count: number) => Array.from({ length: count }, (_, at) => `o${String(at).padStart(4, '0')}`)

describe.each(PLACES)('on %s', (_, open) => {
  test('a drain that is killed loses and doubles nothing: another one goes on with its partitions', async () => {
    const { store, address } = await open()
    const outcome = await createInbox(store, 'orders', 4, { by: 'test' })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    writeFileSync(join(user.home, 'order.yaml'), 'root: Order\n')
    const argv = ['inbox', 'drain', 'orders', '--store', address, '--template', 'order.yaml', '--name', 'd/{/id}']
    const doomed = user.start([...argv, '-o', 'ndjson', '--concurrency', '4'])
    await doomed.until('stderr', /drains all 4 partitions/)
    const writer = new InboxWriter(store, outcome.inbox)
    const puts = ids(RECORDS).map(id => writer.put({ id, json: `{"id":"${id}"}` }))
    await doomed.until('stdout', /created/)
    doomed.process.kill('SIGKILL')
    await doomed.ended
    await Promise.all(puts)
    const heir = await user.run([...argv, '--once', '-o', 'ndjson'])
    expect(heir).toMatchObject({ code: 0 })
    expect(await names(store, 'd/')).toEqual(ids(RECORDS).map(id => `d/${id}`))
    // Each was made by one of the two; what both saw was a duplicate for the second.
    const made = heir.stdout.split('\n').filter(line => line.includes('"outcome":"created"')).length
    expect(made).toBeLessThan(RECORDS)
    const view = await readStream(store, 'd/o0000')
    expect(view?.stream.events[0]?.input?.text).toBe('{"id":"o0000"}')
  })

  test('steps of one session stay in order though the drain is killed', async () => {
    const { store, address } = await open()
    const outcome = await createInbox(store, 'moves', 2, { by: 'test' })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    const argv = ['inbox', 'drain', 'moves', '--store', address, '--append', 'Move', '--name', 'cars/{/key}']
    const doomed = user.start([...argv, '-o', 'ndjson'])
    const writer = new InboxWriter(store, outcome.inbox, { blockBytes: 500 })
    const puts = ids(60).map((id, at) => writer.put({ id, key: `car${at % 3}`, json: `"${id}"` }))
    await doomed.until('stdout', /appended/)
    doomed.process.kill('SIGKILL')
    await doomed.ended
    await Promise.all(puts)
    expect(await user.run([...argv, '--once'])).toMatchObject({ code: 0 })
    for (const car of [0, 1, 2]) {
      const view = await readStream(store, `cars/car${car}`)
      const moves = view?.stream.events.filter(({ name }) => name === 'Move').map(({ input }) => input?.text)
      expect(moves).toEqual(ids(60).flatMap((id, at) => (at % 3 === car ? [`"${id}"`] : [])))
    }
  })

  test('SIGTERM, or here a hang-up, ends it after the records being worked on; what it has done is not seen again', async () => {
    const { store, address } = await open()
    const outcome = await createInbox(store, 'orders', 2, { by: 'test' })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    writeFileSync(join(user.home, 'order.yaml'), 'root: Order\n')
    const argv = ['inbox', 'drain', 'orders', '--store', address, '--template', 'order.yaml', '--name', 'd/{/id}']
    const writer = new InboxWriter(store, outcome.inbox)
    await Promise.all(ids(50).map(id => writer.put({ id, json: '{}' })))
    const first = user.start([...argv, '-o', 'ndjson'])
    await first.until('stdout', /(?:.*created.*\n){50}/)
    first.process.kill('SIGHUP')
    expect(await first.ended).toMatchObject({ code: 0 })
    const again = await user.run([...argv, '--once'])
    expect(again).toMatchObject({ code: 0 })
    expect(again.stderr).toContain('nothing to drain')
  })
})
