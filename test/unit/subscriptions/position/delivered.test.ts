import { expect, test } from 'vitest'
import { parsePosition, positionText, startPositionDocument } from '../../../../src/subscriptions/position/document.ts'
import { ShardPosition } from '../../../../src/subscriptions/position/position.ts'
import { newTransactions } from '../../../../src/subscriptions/position/transactions.ts'

const START_MS = Date.UTC(2026, 10, 20, 12)
const BORN = 'born'
const STATUS = { by: 'a@b', host: 'h', delivered: 0, lagMs: 0, rate: 0, atMs: START_MS }

function transactionAt(version: number, atMs: number) {
  const at = new Date(atMs).toISOString()
  return { version, at, by: 'a@b', op: 'signal', provisional: false } as Parameters<
    typeof newTransactions
  >[0]['transactions'][number]
}

/** The document after this number of streams was delivered, and after a sweep 100 s later that found nothing. */
function afterDeliveries(streams: number) {
  const position = new ShardPosition(startPositionDocument(START_MS, START_MS, 'a@b'), START_MS)
  position.beginSweep(START_MS + 1_000)
  for (let at = 0; at < streams; at++) {
    const name = `orders/${at}`
    position.found({ name, modifiedMs: START_MS + 500, state: { born: BORN, version: 1 } })
    const inHand = position.inHand.get(name)
    if (inHand === undefined) throw new Error(name)
    position.read(inHand, {
      born: BORN,
      transactions: [transactionAt(1, START_MS + 500)],
      modifiedMs: START_MS + 500,
    })
    position.handled(inHand, 1)
    position.finish(inHand)
  }
  position.endSweep()
  position.beginSweep(START_MS + 101_000)
  position.endSweep()
  return parsePosition('position', positionText(position.document(STATUS)))
}

test('deliveries are remembered for two and a half minutes, and if they are many for one', () => {
  const few = afterDeliveries(3_000)
  expect({ forgottenMs: few.forgottenMs, recent: [...few.recent].length }).toEqual({ forgottenMs: 0, recent: 3_000 })
  const many = afterDeliveries(5_000)
  expect({ forgottenMs: many.forgottenMs, recent: [...many.recent].length }).toEqual({
    forgottenMs: START_MS + 41_000,
    recent: 0,
  })
})

test.each([
  ['two minutes late', 0, 115_000],
  ['half a minute late, where deliveries were forgotten early', 40_000, 25_000],
])('a transaction that became visible %s is new', (_, forgottenAfterMs, lateMs) => {
  const watermarkMs = START_MS + 100_000
  const transactions = [transactionAt(1, START_MS - 600_000), transactionAt(2, watermarkMs - lateMs)]
  const forgottenMs = forgottenAfterMs === 0 ? 0 : START_MS + forgottenAfterMs
  const read = { born: BORN, transactions, modifiedMs: watermarkMs + 5_000 }
  const found = newTransactions(read, undefined, { watermarkMs, forgottenMs, fromMs: START_MS - 700_000 })
  expect(found.transactions.map(({ version }) => version)).toEqual([2])
})
