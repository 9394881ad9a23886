import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sized } from '../../../guarantees/size.ts'
import { PositionWorld, type Step } from './world.ts'

const stream = fc.nat(5)
const pick = fc.nat(7)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.oneof(fc.nat(5_000), fc.nat(90_000)) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('transaction' as const), stream, writtenAgoMs: fc.nat(110_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('heartbeat' as const), stream }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), stream }) },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'sweep' }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('list' as const), streams: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'restart' }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('deliver' as const), pick, most: fc.nat(3), halts: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('race' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const), pick }) },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'write' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'kill' }) },
)

const RUNS = sized(2_000, 200_000)

test(
  'every transaction is delivered, in order, and again only if its process died before the position was written',
  () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), steps => {
        const world = new PositionWorld(0)
        for (const each of steps) world.step(each)
        world.settle()
        expect(world.violations).toEqual([])
      }),
      { numRuns: RUNS },
    )
  },
  sized(60_000, 3_600_000),
)

test('a whole sweep with everything delivered moves the watermark to its start', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
      const world = new PositionWorld(0)
      for (const each of steps) world.step(each)
      world.settle()
      expect(world.watermarkAgeMs).toBe(0)
    }),
  )
})
