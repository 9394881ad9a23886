import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createInbox } from '../../src/inbox/inbox.ts'
import { readStream } from '../../src/ops/read-stream.ts'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { newUser, type User } from './program.ts'

/** Puts and drains that are killed at random under load: all that was put becomes one stream each, or a step in order. */

const COUNT = 160
const KEYS = 5
const KILLS = 2

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

/** Of a fixed sequence, so that a failure can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** Starts a drain, which waits for records, and kills it after it has told of so many, again and again. */
async function killAgainAndAgain(argv: readonly string[], random: () => number): Promise<void> {
  for (let at = 0; at < KILLS; at++) {
    const run = user.start(argv)
    const lines = 1 + Math.floor(random() * 40)
    await run.until('stdout', new RegExp(`(?:.*\\n){${lines}}`))
    run.process.kill('SIGKILL')
    await run.ended
  }
}

describe.each(PLACES)('on %s', (_, open) => {
  test('put and drain that are killed at random lose and double nothing, and keep the order of each session', async () => {
    const { store, address } = await open()
    const outcome = await createInbox(store, 'moves', 4, { by: 'test' })
    if (outcome.kind !== 'created') throw new Error(outcome.kind)
    const records = Array.from({ length: COUNT }, (_, at) => ({ id: `m${at}`, key: `car${at % KEYS}`, n: at }))
    writeFileSync(join(user.home, 'moves.ndjson'), records.map(record => `${JSON.stringify(record)}\n`).join(''))
    const random = randomOf(22)
    const put = ['inbox', 'put', 'moves', 'moves.ndjson', '--store', address, '--resume', 'put.json', '--linger', '1ms']
    const drain = ['inbox', 'drain', 'moves', '--store', address, '--append', 'Move', '--name', 'cars/{/key}']
    const putting = (async () => {
      for (let at = 0; at < KILLS; at++) {
        const run = user.start(put)
        const timer = setTimeout(() => run.process.kill('SIGKILL'), 200 + random() * 600)
        await run.ended
        clearTimeout(timer)
      }
      return user.run(put)
    })()
    await killAgainAndAgain([...drain, '-o', 'ndjson'], random)
    expect(await putting).toMatchObject({ code: 0 })
    expect(await user.run([...drain, '--once'])).toMatchObject({ code: 0 })
    // From outside: each session has its records, each once, in the order of the file.
    for (let key = 0; key < KEYS; key++) {
      const view = await readStream(store, `cars/car${key}`)
      const moves = view?.stream.events
        .filter(({ name }) => name === 'Move')
        .map(({ input }) => inputNumber(input?.text))
      expect(moves).toEqual(records.filter(({ n }) => n % KEYS === key).map(({ n }) => n))
    }
    expect(readFileSync(join(user.home, 'put.json'), 'utf8')).toContain('moves.ndjson')
  })
})

function inputNumber(text = ''): unknown {
  return JSON.parse(text).n
}
