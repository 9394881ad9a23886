import { expect, test } from 'vitest'
import type { Expiry } from '../../../../src/watchdog/decision.ts'
import { Backlog, type PendingRead } from '../../../../src/watchdog/hooks/backlog.ts'
import { PassTracker, PendingDeliveries } from '../../../../src/watchdog/hooks/pending.ts'

/** A backlog whose readers are all busy. */
function busy(limit?: number) {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const read: Omit<PendingRead, 'hold'>[] = []
  const holds = new PendingDeliveries(new PassTracker(), () => {})
  const backlog = new Backlog(async ({ hold, ...one }) => {
    read.push(one)
    await mayGoOn
    hold.release()
  }, limit)
  const add = (one: Omit<PendingRead, 'hold'>) => backlog.add({ ...one, hold: holds.take() })
  for (let at = 0; at < 8; at += 1) add(reading(`busy-${at}`, 0))
  read.splice(0)
  return { backlog, add, read, goOn, holds }
}

const reading = (stream: string, before: number | undefined, notices: readonly Expiry[] = []) => ({
  stream,
  before,
  notices,
})
const settled = () => new Promise(resolve => setImmediate(resolve))

test('a stream that changes again while it waits is read once for all changes', async () => {
  const { backlog, add, read, goOn, holds } = busy()
  const notice = { kind: 'notify' } as Expiry
  add(reading('s', 5))
  add(reading('s', 3, [notice]))
  add(reading('t', 5))
  add(reading('t', undefined))
  expect([backlog.size, holds.pending]).toEqual([2, 10])
  goOn()
  await settled()
  expect(read).toEqual([reading('s', 3, [notice]), reading('t', undefined)])
  expect(holds.pending).toBe(0)
})

test('a stream beyond the capacity is refused, waiting ones are accepted, and there is capacity again later', async () => {
  const { add, read, goOn } = busy(1)
  expect([add(reading('s', 1)), add(reading('s', 1)), add(reading('t', 1))]).toEqual([true, true, false])
  goOn()
  await settled()
  expect(add(reading('t', 1))).toBe(true)
  await settled()
  expect(read.map(({ stream }) => stream)).toEqual(['s', 't'])
})

test('no stream is accepted or read after closing', async () => {
  const { backlog, add, read, goOn } = busy()
  add(reading('s', 1))
  backlog.close()
  goOn()
  expect(add(reading('t', 1))).toBe(false)
  await settled()
  expect(read).toEqual([])
})
