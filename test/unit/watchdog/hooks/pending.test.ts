import { expect, test } from 'vitest'
import { PassTracker } from '../../../../src/watchdog/hooks/pending.ts'

test('a sweep is complete when it has ended and all its deliveries are done', () => {
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

test('a later sweep waits for the deliveries of an earlier one', () => {
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

test('a sweep waits for deliveries found between the two', () => {
  const rounds = new PassTracker()
  const between = rounds.hold()
  rounds.begin(true, 200)
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
  between.release()
  expect(rounds.doneMs).toBe(200)
})

test('an interrupted sweep and single inspections complete nothing', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  rounds.end(false)
  rounds.begin(false, 150)
  rounds.end(true)
  expect(rounds.doneMs).toBeUndefined()
})

test('a running pass is not complete', () => {
  const rounds = new PassTracker()
  rounds.begin(true, 100)
  const one = rounds.hold()
  one.release()
  expect(rounds.doneMs).toBeUndefined()
  rounds.end(true)
  rounds.end(false)
  expect(rounds.doneMs).toBe(100)
})

test('a delivery delays the pass that found it, not the one during which it ends', () => {
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

test('sweeps after one that does not complete are not all remembered', () => {
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
