import type { Problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { CopyOptions } from '../../ops/copy.ts'
import type { Standing } from '../../ops/copy-standing.ts'
import type { CopyRequest } from './copy-request.ts'
import type { TransferFlags } from './flags.ts'
import { bytesOf, type Item, placeOf } from './item.ts'
import { existsProblem, SAME, type Transferred, undone, unreplaceable } from './outcome.ts'
import { transfer } from './transfer.ts'

/** What is to be done with one document. */
export type Job =
  /** Nothing: this became of it. */
  | { readonly kind: 'settled'; readonly outcome: Transferred }
  | {
      readonly kind: 'copy'
      readonly item: Item
      readonly existing: CopyOptions['existing']
      /** What would become of it. */
      readonly outcome: Transferred
    }

export interface CopyPlan {
  readonly jobs: readonly Job[]
  /** How many would be new. */
  readonly created: number
  /** Names of those that would be written over. */
  readonly replaced: readonly string[]
  /** Looking ended before its end. */
  readonly stopped: Problem | undefined
}

/** Looks at every document and at what has its name, before anything is written. */
export async function planCopies(request: CopyRequest, atOnce: number, runtime: Runtime): Promise<CopyPlan> {
  const { items, flags, options } = request
  const jobs: Job[] = []
  const progress = openProgressLine(options, runtime)
  const note = async (job: Job) => {
    jobs.push(job)
    if (jobs.length % 100 === 0) await progress.show(`looking: ${jobs.length} streams`)
  }
  const work = async (item: Item) => {
    const job = await look(item, request)
    return async () => {
      await note(job)
      return []
    }
  }
  // Faults of single streams come as outcomes: they are part of the plan.
  const faults = { add: (outcome: Transferred) => note({ kind: 'settled', outcome }) }
  const stopped = await transfer({ items, nameOf: ({ name }) => name, work, atOnce }, faults, runtime)
  await progress.clear()
  const copied = jobs.filter(job => job.kind === 'copy')
  const replaced = flags.replace ? copied.filter(({ outcome }) => outcome.note === WOULD.replace) : []
  return {
    jobs,
    stopped,
    created: copied.length - replaced.length,
    replaced: replaced.map(({ item }) => item.name),
  }
}

const WOULD = { create: 'would be created', replace: 'would be written over' } as const

async function look(item: Item, { copies, flags }: CopyRequest): Promise<Job> {
  const body = await bytesOf(item)
  if (!(body instanceof Uint8Array)) return { kind: 'settled', outcome: body }
  const standing = await copies.look(item.name, body)
  if (standing !== undefined && standing.kind !== 'other') {
    return { kind: 'settled', outcome: { ...settled(item.name, standing), ...placeOf(item) } }
  }
  if (standing !== undefined && !flags.replace) {
    return { kind: 'settled', outcome: { ...left(item.name, flags), ...placeOf(item) } }
  }
  const note = standing === undefined ? WOULD.create : WOULD.replace
  return {
    kind: 'copy',
    item,
    existing: flags.replace ? { replace: standing?.etag } : flags.skipExisting ? 'skip' : 'refuse',
    outcome: { stream: item.name, word: 'todo', note, ...placeOf(item) },
  }
}

function settled(stream: string, standing: Exclude<Standing, { readonly kind: 'other' }>): Transferred {
  if (standing.kind === 'same') return { stream, word: 'already', note: SAME }
  return undone('refused', stream, unreplaceable(stream, standing))
}

/** Another document has the name. */
function left(stream: string, { skipExisting }: TransferFlags): Transferred {
  return skipExisting
    ? { stream, word: 'skipped', note: 'another document has the name: left as it is' }
    : undone('refused', stream, existsProblem(stream))
}
