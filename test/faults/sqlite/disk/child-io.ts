// A separate program on a disk whose calls fail one after the other: node child-io.ts FOLDER OPTIONS
// Prints a line of JSON for each run of the scenario.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { LeasectlError } from '../../../../src/stream/errors.ts'
import { bytes, changeOptions, holder, summary } from '../../../contract/harness.ts'
import { document, faultsOf, once } from '../judgement.ts'
import { arm, type Failing } from './talk.ts'

export interface IoOptions {
  /** The scenario runs once for each `first` of its calls, or every n-th of them, with each of these. */
  readonly failings: readonly (Omit<Failing, 'first'> & { readonly every: number })[]
  /** Reports failures as done. */
  readonly lies?: boolean
}

export interface IoRun extends Failing {
  readonly injected: number
  /** The number of each outcome, or code of an error. */
  readonly told: Readonly<Record<string, number>>
  readonly faults: readonly string[]
}

const [folder = '', given = '{}'] = process.argv.slice(2)
const { failings, lies = false }: IoOptions = JSON.parse(given)

/** The reports on the changes of one run. */
class Tally {
  readonly acknowledged: string[] = []
  readonly refused: string[] = []
  readonly strange: string[] = []
  readonly told: Record<string, number> = {}

  async of(id: string, work: Promise<{ readonly kind: string }>): Promise<void> {
    const outcome = await this.#outcome(id, work)
    this.told[outcome] = (this.told[outcome] ?? 0) + 1
    if (DONE.includes(outcome) || lies) this.acknowledged.push(id)
    else if (outcome !== 'unknown') this.refused.push(id)
  }

  async #outcome(id: string, work: Promise<{ readonly kind: string }>): Promise<string> {
    try {
      return (await work).kind
    } catch (error) {
      if (!(error instanceof LeasectlError)) this.strange.push(`${id}: ${error}`)
      return error instanceof LeasectlError ? error.code : 'strange'
    }
  }
}

const DONE = ['created', 'committed', 'left']

function open(path: string): StreamStore {
  // Pauses between attempts are as short as possible.
  return openSqliteStore(path, { random: () => 0, onOpen: db => db.exec('PRAGMA wal_autocheckpoint = 4') })
}

function change(store: StreamStore, tally: Tally, name: string, id: string): Promise<void> {
  return tally.of(id, store.update(name, once(id), changeOptions({ deadlineMs: 2_000, waitMs: 0 })))
}

/** Creates, changes alone and together, checkpoints, leases, closes, opens again. */
async function scenario(path: string, tally: Tally): Promise<StreamStore> {
  const first = open(path)
  for (const name of ['a', 'b', 'c']) {
    await tally.of(`new-${name}`, first.create(name, bytes(document(`new-${name}`)), summary()))
  }
  await change(first, tally, 'a', 'a-1')
  await Promise.all(['a', 'b', 'c'].map(name => change(first, tally, name, `${name}-2`)))
  await first.acquireLease('a', { leaseId: 'x', durationS: 15, holder: holder('ada') }).catch(() => undefined)
  await first.releaseLease('a', 'x').catch(() => undefined)
  await first.close()
  const second = open(path)
  await Promise.all(['b', 'c'].map(name => change(second, tally, name, `${name}-3`)))
  await change(second, tally, 'a', 'a-4')
  return second
}

async function run(failing: Failing): Promise<IoRun & { readonly seen: number }> {
  const path = join(folder, 'new', 'streams.db')
  rmSync(join(folder, 'new'), { recursive: true, force: true })
  const tally = new Tally()
  arm(failing)
  const store = await scenario(path, tally)
  const { seen, injected } = arm(undefined)
  // The same program continues as soon as the disk works again.
  await tally.of('healed', store.create('healed', bytes(document('healed')), summary()))
  const goesOn = tally.acknowledged.includes('healed') ? [] : ['the program did not go on']
  await store.close()
  const faults = [...goesOn, ...tally.strange, ...(await faultsOf(path, tally))]
  return { ...failing, seen, injected, told: tally.told, faults }
}

mkdirSync(folder, { recursive: true })
for (const { every, ...each } of failings) {
  // The number of calls without a failure.
  const { seen } = await run({ ...each, first: Number.MAX_SAFE_INTEGER })
  for (let first = 1; first <= seen; first += every) {
    process.stdout.write(`${JSON.stringify(await run({ ...each, first }))}\n`)
  }
}
