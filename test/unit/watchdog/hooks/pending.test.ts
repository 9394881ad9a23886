import { expect, test } from 'vitest'
import { PassTracker } from '../../../../src/watchdog/hooks/pending.ts'

test('a sweep is through when it has ended and all that it led to is delivered', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const one = rounds.hold()
  const two = rounds.hold()
  one.release()
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
  two.release()
  expect(rounds.doneMs).toBe(100)
})

test('a later sweep waits for what an earlier one led to', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const slow = rounds.hold()
  rounds.end(true)
  rounds.begin(true, 200)
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
  slow.release()
  expect(rounds.doneMs).toBe(200)
})

test('a sweep waits for what was found between the two', () => {
  const rounds = new PassTracker()
  const between = rounds.hold()
  rounds.begin(true, 200)
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
  between.release()
  expect(rounds.doneMs).toBe(200)
})

test('a sweep that was cut off, and a look at single streams, tell nothing of the whole', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  rounds.end(false)
  rounds.begin(false, 150)
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
})

test('a pass that is still going on is not through', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const one = rounds.hold()
  one.release()
  expect(rounds.doneMs).toBeUndefined()
  rounds.end(true)
  rounds.end(false)
  expect(rounds.doneMs).toBe(100)
})

test('what came of something holds up the pass that found it, not the one that goes on', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const reading = rounds.hold()
  rounds.end(true)
  rounds.begin(true, 200)
  const delivery = reading.also()
  reading.release()
  expect(rounds.doneMs).toBeUndefined()
  delivery.release()
  expect(rounds.doneMs).toBe(100)
})

test('sweeps behind one that does not come to its end are not all remembered', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const slow = rounds.hold()
  for (let at = 200; at < 300; at += 1) {
    rounds.end(true)
    rounds.begin(at % 3 === 0, at)
  }
  expect(rounds.size).toBeLessThan(5)
  slow.release()
  expect(rounds.doneMs).toBe(297)
})
