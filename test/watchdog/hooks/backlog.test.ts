import { expect, test } from 'vitest'
import type { Expiry } from '../../../src/watchdog/decision.ts'
import { Backlog, type Reading } from '../../../src/watchdog/hooks/backlog.ts'

const reading = (stream: string, before: number | undefined, more: Partial<Reading> = {}): Reading => ({
  stream,
  before,
  notices: [],
  ended: [],
  ...more,
})

/** A backlog whose readers are all busy. */
async function busy(limit?: number) {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const read: Reading[] = []
  const backlog = new Backlog(async one => {
    read.push(one)
    await mayGoOn
  }, limit)
  for (let at = 0; at < 8; at += 1) await backlog.add(reading(`busy-${at}`, 0))
  read.splice(0)
  return { backlog, read, goOn }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

test('a stream that moves again while it waits is read once, for all that it is read for', async () => {
  const { backlog, read, goOn } = await busy()
  const [first, second] = [() => {}, () => {}]
  const notice = { kind: 'notify' } as Expiry
  await backlog.add(reading('s', 5, { ended: [first] }))
  await backlog.add(reading('s', 3, { ended: [second], notices: [notice] }))
  await backlog.add(reading('t', 5))
  await backlog.add(reading('t', undefined))
  expect(backlog.size).toBe(2)
  goOn()
  await settled()
  expect(read).toEqual([reading('s', 3, { ended: [first, second], notices: [notice] }), reading('t', undefined)])
})

test('whoever finds more than may wait waits, but not for what waits already', async () => {
  const { backlog, read, goOn } = await busy(1)
  await backlog.add(reading('s', 1))
  await backlog.add(reading('s', 1))
  let isIn = false
  const adding = backlog.add(reading('t', 1)).then(() => {
    isIn = true
  })
  await settled()
  expect(isIn).toBe(false)
  goOn()
  await adding
  await settled()
  expect(read.map(({ stream }) => stream)).toEqual(['s', 't'])
})

test('nothing is read after it was closed', async () => {
  const { backlog, read, goOn } = await busy()
  await backlog.add(reading('s', 1))
  backlog.close()
  goOn()
  await backlog.add(reading('t', 1))
  await settled()
  expect(read).toEqual([])
})
