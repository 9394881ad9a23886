import { expect } from 'vitest'
import type { trustRow } from '../../guarantees/record.ts'
import { SIZE } from '../../guarantees/size.ts'
import { type Played, TOO_SLOW_MS } from './figure.ts'
import { complaints, type Evidence, starved } from './judge.ts'

export interface Question {
  readonly trust: Pick<ReturnType<typeof trustRow<'watchdog'>>, 'figure' | 'skipped'>
  /** The name of the play. */
  readonly what: string
  /** The line that repeats it. */
  readonly again: string
  readonly allowedMs: Evidence['allowedMs']
  /** A machine that is too slow to judge all of it is a failure; otherwise it is reported. */
  readonly isStrict?: boolean
}

/** The allowed number of heartbeats that are late because of the machine; with more the play proves nothing. */
const MOST_STARVED = 19

/** Judges a play, and reports on it, including parts that were not judged because of a slow machine. */
export function expectKept(
  played: Pick<Played, 'lives' | 'signs' | 'fates' | 'slowestReadMs'>,
  { trust, what, again, allowedMs, isStrict = SIZE === 'nightly' }: Question,
): void {
  const { lives, signs, fates, slowestReadMs } = played
  const wrong = complaints({ ...played, allowedMs })
  const about = (text: string) => wrong.filter(line => line.includes(text)).length
  const heartbeats = [...signs.values()].reduce((sum, { count }) => sum + count, 0)
  const silenced = lives.filter(({ kind }) => kind === 'silenced')
  trust.figure('heartbeats', heartbeats, what)
  trust.figure('ended early', about('ended early'), `0, ${what}`)
  trust.figure('stale', silenced.filter(({ stream }) => fates.get(stream)?.ends.length === 1).length, what)
  const isTimed = slowestReadMs <= TOO_SLOW_MS
  if (isTimed) trust.figure('ended late', about('after its limit'), `0, ${what}, the slowest read ${slowestReadMs} ms`)
  else trust.skipped(`ended late, ${what}`, `a read took ${slowestReadMs} ms, so nothing can be said of time`)
  const slow = starved(played).length
  if (slow > 0) trust.skipped(`live events, ${what}`, `${slow} really fell silent: the machine was too slow`)
  expect(wrong, again).toEqual([])
  expect(slow, `live events that really fell silent; ${again}`).toBeLessThanOrEqual(isStrict ? 0 : MOST_STARVED)
  if (isStrict) expect(slowestReadMs, `too slow to say anything of time; ${again}`).toBeLessThanOrEqual(TOO_SLOW_MS)
}
