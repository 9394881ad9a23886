import { commandLine } from '../../cli/command-line.ts'
import { errorProblem } from '../../cli/error-problem.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import type { StreamSnapshot, StreamStore } from '../../store/store.ts'
import { isHeld } from '../../stream/lease.ts'
import type { ChangeTarget, Outcome, Preview } from '../../tui/ports.ts'
import { readAhead } from '../../util/concurrency.ts'
import { commandWords } from '../../util/strings.ts'
import { visibleName } from '../../util/visible-text.ts'
import { runJobs } from '../batch/execute.ts'
import { ROWS_SHOWN } from '../batch/preview.ts'
import { whyNot } from '../batch/report.ts'
import { wordOf } from '../batch/result.ts'
import { type BreakResult, breakNow, changedHands } from '../lease/break-lease.ts'
import { leaseLine } from '../lease/run.ts'
import { changing, type Prepared } from './changes.ts'

/** An inspected lease. */
type Inspected = Pick<StreamSnapshot, 'name' | 'etag' | 'lease' | 'summary'>

/** Number of streams read, or leases broken, at a time. */
const CONCURRENCY = 8
/** Number of names in the equivalent command line. */
const MAX_NAMED = 20
/** Longest name that a user must type, in characters. */
const MAX_TYPED = 60

/** Inspects the leases of streams. Breaks only leases that are held then, and only if they are still the same. */
export async function prepareBreak(
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const names = [...new Set(targets.map(({ stream }) => stream))]
  const inspected = new Map<string, Inspected>()
  const { store } = opened
  for await (const stored of readAhead(names, CONCURRENCY, name => inspectLease(name, store, signal)))
    if (stored !== undefined) inspected.set(stored.name, stored)
  const held = [...inspected.values()].filter(({ lease }) => isHeld(lease))
  return {
    preview: {
      verb: 'break',
      question: held.length === 0 ? 'There is no lease to break' : breaks(held),
      lines: linesOf(names, inspected, held, store),
      count: held.length,
      command: () => breakCommand(names, runtime),
      confirm: confirmOf(held),
      takesReason: false,
    },
    execute: (_, onOutcome, stop) => breakAll(held, store, changing(runtime, ['lease', 'break'], stop), onOutcome),
  }
}

/** The equivalent command lines; `lease break` takes one name. */
function breakCommand(names: readonly string[], runtime: Runtime): string {
  const lines = names
    .slice(0, MAX_NAMED)
    .map(name => commandLine(runtime, commandWords(['lease', 'break'], [name])))
    .join(' && ')
  const more = names.length - MAX_NAMED
  return more > 0 ? `${lines}  # and ${countText(more)} more, one at a time` : lines
}

/** The lease without the document, because thousands of streams can be marked. */
async function inspectLease(name: string, store: StreamStore, signal: AbortSignal): Promise<Inspected | undefined> {
  const stored = await store.read(name, signal)
  if (stored === undefined) return undefined
  const { etag, lease, summary } = stored
  return { name, etag, lease, ...(summary === undefined ? {} : { summary }) }
}

function breaks(held: readonly Inspected[]): string {
  const [first] = held
  return first !== undefined && held.length === 1
    ? `This breaks the lease of ${visibleName(first.name)}`
    : `This breaks the leases of ${counted(held.length, 'stream')}`
}

/** Requires typing the name of one stream, as the command does, or the number of several. */
function confirmOf(held: readonly Inspected[]): Preview['confirm'] {
  const name = held.length === 1 ? held[0]?.name : undefined
  return name !== undefined && name.length <= MAX_TYPED && visibleName(name) === name
    ? { kind: 'type', text: name, what: 'the name of the stream' }
    : { kind: 'type', text: String(held.length), what: 'the number of leases' }
}

function linesOf(
  names: readonly string[],
  inspected: ReadonlyMap<string, Inspected>,
  held: readonly Inspected[],
  store: StreamStore,
): readonly string[] {
  const more = held.length - ROWS_SHOWN
  const free = inspected.size - held.length
  const missing = names.length - inspected.size
  return [
    ...held.slice(0, ROWS_SHOWN).map(one => leaseLine(one, store)),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...(free > 0
      ? [free === names.length ? 'no lease is held' : `${counted(free, 'stream')} not leased, left out`]
      : []),
    ...(missing > 0 ? [`${counted(missing, 'stream')} no longer there`] : []),
    ...(held.length > 0 ? ['Unfinished work of the holder is lost: its next write is refused.'] : []),
  ]
}

async function breakAll(
  held: readonly Inspected[],
  store: StreamStore,
  runtime: Runtime,
  onOutcome: (outcome: Outcome) => void,
): ReturnType<Prepared['execute']> {
  let good = 0
  const how = { concurrency: CONCURRENCY, signal: runtime.signal }
  const started = await runJobs(held, how, async (before, stop) => {
    const what = await broken(before, store, runtime)
    stop.count('exit' in what ? what : undefined)
    const outcome = outcomeOf(before.name, what)
    if (outcome.isGood) good++
    onOutcome(outcome)
  })
  if (held.length === 1) return { lines: [] }
  const bad = started - good
  const parts = [
    `${countText(good)} done`,
    ...(bad === 0 ? [] : [`${countText(bad)} not done`]),
    ...(started === held.length ? [] : [`${countText(held.length - started)} not started`]),
  ]
  return { lines: [parts.join('; ')] }
}

async function broken(before: Inspected, store: StreamStore, runtime: Runtime): Promise<BreakResult | Problem> {
  try {
    return (await changedHands(before, store, runtime)) ?? (await breakNow(before.name, 0, store, runtime))
  } catch (error) {
    return { ...errorProblem(error, runtime), stream: before.name }
  }
}

function outcomeOf(stream: string, what: BreakResult | Problem): Outcome {
  if ('exit' in what) {
    const text = whyNot(what, { stream, event: undefined })
    return { target: { stream }, word: wordOf({ outcome: what }), isGood: false, text }
  }
  const text = what.kind === 'done' ? `the lease is ${what.state}` : 'the lease was already gone'
  return { target: { stream }, word: what.kind, isGood: true, text }
}
