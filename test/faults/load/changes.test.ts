import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, SIZE, sized, trustSeed } from '../../guarantees/size.ts'
import { type Azurite, startAzurite } from '../../support/azurite.ts'
import { buildCrewProgram, type CrewProgram } from './crew-program.ts'
import { type Crew, type Played, play, type Round, type Without } from './play.ts'
import { caching, hasty, unconditional } from './unprotected.ts'

const { figure, control, injected } = trustRow('changes')
const SEED = trustSeed(1)
const REPEAT = repeatWith('test/faults/load/changes.test.ts', SEED)
const CREW: Size = { processes: 4, workersEach: 5, everyMs: 1_000, everyChanges: sized(60, 10) }
const SMALL_CREW: Size = { processes: 2, workersEach: 3, everyMs: 1_000, everyChanges: 40 }
/** The number of changes, and the rate of disturbances. */
type Size = Omit<Crew, 'program'>
/** Streams grow with each change: this many in a round, then with fresh ones. */
const IN_A_ROUND = 5_000
/** In a round after the last one, if chance has left out a kind of fault. */
const IN_ONE_MORE = 100
const MOST_MORE = 20
const TIMEOUT = { timeout: sized(480_000, 6 * 3_600_000) }

/** An emulator of its own: on a shared one, requests of others would wait for many seconds. */
let emulator: Azurite
let program: CrewProgram
beforeAll(async () => {
  program = await buildCrewProgram()
  emulator = await startAzurite({ onDisk: SIZE === 'nightly' })
})
afterAll(async () => {
  await emulator.stop()
  program.remove()
})

const totals = { violations: 0, unresolved: 0 }
afterAll(() => {
  figure('violations', totals.violations, '0')
  figure('unknown left unresolved', totals.unresolved, '0')
})

sized(describe.concurrent, describe)('over a bad network, with workers that are killed and stopped', () => {
  test(
    'no change is lost, duplicated or reordered, and the outcome of each is known: 5 % of faults',
    TIMEOUT,
    async () => {
      figure('updates at 5 %', await changesAt(5, sized(600, 100_000), CREW))
    },
  )

  test('the same holds with 20 % of faults', TIMEOUT, async () => {
    figure('updates at 20 %', await changesAt(20, sized(200, 20_000), sized(SMALL_CREW, CREW)))
  })

  test.each<[string, Without]>([
    ['writes are not conditional', { store: unconditional }],
    ['changes are told of before they are made', { store: hasty }],
    ['reads come from a cache', { store: caching, reads: 0.6 }],
    ['what is repeated has a new command id', withNewIds()],
  ])('the checker detects a system in which %s', TIMEOUT, async (name, without) => {
    expect(await isFoundOut(without), REPEAT).toBe(true)
    control(name, true)
  })
})

/**
 * @param percent of faults
 * @returns the number of changes made
 */
async function changesAt(percent: number, changes: number, size: Size): Promise<number> {
  let made = 0
  const sums = new Map<string, number>()
  const never = () => [...sums].filter(([, count]) => count === 0).map(([kind]) => kind)
  let more = 0
  for (let at = 0; made < changes || (never().length > 0 && more++ < MOST_MORE); at++) {
    const seed = SEED + at
    const left = made < changes ? Math.min(changes - made, IN_A_ROUND) : IN_ONE_MORE
    const played = await playFresh(
      { share: percent / 100, changes: left, streams: sized(60, 100), seed },
      { ...size, program },
    )
    made += played.made
    totals.violations += played.violations.length
    totals.unresolved += played.unresolved.length
    const repeat = repeatWith('test/faults/load/changes.test.ts', seed, `${percent} % of faults`)
    expect(played.violations, [repeat, ...played.evidence].join('\n')).toEqual([])
    expect(played.unresolved, repeat).toEqual([])
    expect(played.strange, repeat).toEqual([])
    for (const [kind, count] of played.injected) sums.set(kind, (sums.get(kind) ?? 0) + count)
  }
  for (const [kind, count] of sums) injected(`${kind} at ${percent} %`, count)
  expect(never(), REPEAT).toEqual([])
  return made
}

/** In CI all rounds on one emulator; otherwise each round on its own, on disk. */
async function playFresh(round: Round, crew: Crew): Promise<Played> {
  if (SIZE === 'ci') return play(emulator.port, round, crew)
  const azurite = await startAzurite({ onDisk: true })
  try {
    return await play(azurite.port, round, crew)
  } finally {
    await azurite.stop()
  }
}

/** A round or two may by chance have none. */
async function isFoundOut(without: Without): Promise<boolean> {
  const { port } = emulator
  for (let at = 0; at < 10; at++) {
    const round = { share: 0.05, changes: 120, streams: 4, seed: SEED + at }
    const { violations } = await play(port, round, undefined, without)
    if (violations.length > 0) return true
  }
  return false
}

function withNewIds(): Without {
  let ids = 0
  return { commandId: id => `${id}+${++ids}`, idOf: commandId => commandId.replace(/[+]\d+$/, '') }
}
