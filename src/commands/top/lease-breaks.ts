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

/** A lease that was looked at. */
type Seen = Pick<StreamSnapshot, 'name' | 'etag' | 'lease' | 'summary'>

/** So many streams are read, or their leases broken, at a time. */
const AT_ONCE = 8
/** Names in the command line that does the same. */
const MOST_NAMED = 20
/** A name that is longer nobody types. */
const LONGEST_TYPED = 60

/** Looks at the leases of streams; only those that somebody holds are broken then, each only if it is still the same. */
export async function prepareBreak(
  targets: readonly ChangeTarget[],
  opened: RuntimeStore,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Prepared> {
  const names = [...new Set(targets.map(({ stream }) => stream))]
  const seen = new Map<string, Seen>()
  const { store } = opened
  for await (const stored of readAhead(names, AT_ONCE, name => seenLease(name, store, signal)))
    if (stored !== undefined) seen.set(stored.name, stored)
  const held = [...seen.values()].filter(({ lease }) => isHeld(lease))
  return {
    preview: {
      verb: 'break',
      question: held.length === 0 ? 'There is no lease to break' : breaks(held),
      lines: linesOf(names, seen, held, store),
      count: held.length,
      command: () => breakCommand(names, runtime),
      confirm: confirmOf(held),
      takesReason: false,
    },
    carryOut: (_, onOutcome, stop) => breakAll(held, store, changing(runtime, ['lease', 'break'], stop), onOutcome),
  }
}

/** The command takes one name. */
function breakCommand(names: readonly string[], runtime: Runtime): string {
  const lines = names
    .slice(0, MOST_NAMED)
    .map(name => commandLine(runtime, commandWords(['lease', 'break'], [name])))
    .join(' && ')
  const more = names.length - MOST_NAMED
  return more > 0 ? `${lines}  # and ${countText(more)} more, one by one` : lines
}

/** Without the document: what is marked may be thousands. */
async function seenLease(name: string, store: StreamStore, signal: AbortSignal): Promise<Seen | undefined> {
  const stored = await store.read(name, signal)
  if (stored === undefined) return undefined
  const { etag, lease, summary } = stored
  return { name, etag, lease, ...(summary === undefined ? {} : { summary }) }
}

function breaks(held: readonly Seen[]): string {
  const [first] = held
  return first !== undefined && held.length === 1
    ? `This breaks the lease of ${visibleName(first.name)}`
    : `This breaks the leases of ${counted(held.length, 'stream')}`
}

/** As the command: the name of the one, the number of several. */
function confirmOf(held: readonly Seen[]): Preview['confirm'] {
  const name = held.length === 1 ? held[0]?.name : undefined
  return name !== undefined && name.length <= LONGEST_TYPED && visibleName(name) === name
    ? { kind: 'type', text: name, what: 'the name of the stream' }
    : { kind: 'type', text: String(held.length), what: 'the number of leases' }
}

function linesOf(
  names: readonly string[],
  seen: ReadonlyMap<string, Seen>,
  held: readonly Seen[],
  store: StreamStore,
): readonly string[] {
  const more = held.length - ROWS_SHOWN
  const free = seen.size - held.length
  const missing = names.length - seen.size
  return [
    ...held.slice(0, ROWS_SHOWN).map(one => leaseLine(one, store)),
    ...(more > 0 ? [`and ${countText(more)} more`] : []),
    ...(free > 0
      ? [free === names.length ? 'nobody holds a lease' : `${counted(free, 'stream')} not leased, left out`]
      : []),
    ...(missing > 0 ? [`${counted(missing, 'stream')} not there any more`] : []),
    ...(held.length > 0 ? ['What its holder is doing is lost: its next write is refused.'] : []),
  ]
}

async function breakAll(
  held: readonly Seen[],
  store: StreamStore,
  runtime: Runtime,
  onOutcome: (outcome: Outcome) => void,
): ReturnType<Prepared['carryOut']> {
  let good = 0
  const how = { concurrency: AT_ONCE, signal: runtime.signal }
  const begun = await runJobs(held, how, async (before, stop) => {
    const what = await broken(before, store, runtime)
    stop.count('exit' in what ? what : undefined)
    const outcome = outcomeOf(before.name, what)
    if (outcome.isGood) good++
    onOutcome(outcome)
  })
  if (held.length === 1) return { lines: [] }
  const bad = begun - good
  const parts = [
    `${countText(good)} done`,
    ...(bad === 0 ? [] : [`${countText(bad)} not done`]),
    ...(begun === held.length ? [] : [`${countText(held.length - begun)} not begun`]),
  ]
  return { lines: [parts.join('; ')] }
}

async function broken(before: Seen, store: StreamStore, runtime: Runtime): Promise<BreakResult | Problem> {
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
  const text = what.kind === 'done' ? `the lease is ${what.state}` : 'there was no lease any more'
  return { target: { stream }, word: what.kind, isGood: true, text }
}
