import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { CopyOptions } from '../../ops/copy.ts'
import { consent } from './consent.ts'
import type { Copies } from './copies.ts'
import type { CopyRequest } from './copy-request.ts'
import { bytesOf, type Item, marked, placeOf } from './item.ts'
import { copiedOutcome, type Transferred } from './outcome.ts'
import { type Job, planCopies } from './plan-copies.ts'
import type { TransferReport } from './report.ts'
import { DEFAULT_CONCURRENCY, finished, transfer } from './transfer.ts'

/**
 * Puts documents into a store, one outcome each. What writes over others, and every copy into a protected store, is
 * looked at first and asked for; what was looked at is what is done.
 */
export async function copyItems(
  given: CopyRequest,
  report: TransferReport,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const request = { ...given, items: marked(given.items) }
  const { flags, copies } = request
  const atOnce = flags.concurrency ?? DEFAULT_CONCURRENCY
  if (!isPlanned(request)) {
    const existing = flags.skipExisting ? 'skip' : 'refuse'
    const work = async (item: Item) => finished(await copyOne(item, existing, copies, runtime))
    return report.end(
      await transfer({ items: request.items, nameOf: ({ name }) => name, work, atOnce }, report, runtime),
    )
  }
  const plan = await planCopies(request, atOnce, runtime)
  if (plan.stopped !== undefined) return plan.stopped
  const no = flags.dryRun ? undefined : await consent(plan, request, runtime)
  if (no !== undefined) return no
  const work = async (job: Job) =>
    finished(
      job.kind === 'settled' || flags.dryRun ? job.outcome : await copyOne(job.item, job.existing, copies, runtime),
    )
  const nameOf = ({ outcome }: Job) => outcome.stream
  const ended = await report.end(await transfer({ items: plan.jobs, nameOf, work, atOnce }, report, runtime))
  // A dry run has shown what it was asked for.
  return flags.dryRun && !runtime.signal.aborted ? undefined : ended
}

function isPlanned({ flags: { replace, dryRun, expect }, isProtected }: CopyRequest): boolean {
  return replace === true || dryRun === true || expect !== undefined || isProtected
}

async function copyOne(
  item: Item,
  existing: CopyOptions['existing'],
  copies: Copies,
  runtime: Runtime,
): Promise<Transferred> {
  const body = await bytesOf(item)
  if (!(body instanceof Uint8Array)) return body
  return { ...copiedOutcome(item.name, await copies.put(item.name, body, existing), runtime), ...placeOf(item) }
}
