import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Transaction } from '../../../src/stream/journal/journal.ts'
import type { Violation } from '../checker.ts'
import type { EntrySight, EventSight, Happening } from '../happenings.ts'
import { isEnded } from '../stream-model.ts'
import { JournalWalk } from './journal-walk.ts'
import { sessionFaults, signalFaults } from './process-rules.ts'
import type { Register } from './register.ts'
import type { SessionHistories } from './session-histories.ts'

/** The violations of a system run. */
export interface Wrong {
  readonly kind:
    | Violation['kind']
    | 'clash'
    | 'twice'
    | 'lost'
    | 'refused'
    | 'history'
    | 'journal'
    | 'stuck'
    | 'unreachable'
    /** A step of a session or a signal. */
    | 'process'
  readonly stream: string
  readonly why: string
}

/** The observed writes to a stream, in order. */
interface Seen {
  readonly entries: EntrySight[]
  readonly events: Map<string, EventSight>
}

/** Compares actions and reports of all actors with the writes and with the final journals. */
export async function audit(
  base: StreamStore,
  happenings: readonly Happening[],
  register: Register,
  histories: SessionHistories,
): Promise<readonly Wrong[]> {
  const wrong: Wrong[] = histories.faults.map(fault => ({ kind: 'process', ...fault }))
  const seen = new Map<string, Seen>()
  for (const happening of happenings) if (happening.kind === 'wrote') wrong.push(...follow(seen, happening))
  const journals = new Map<string, readonly Transaction[]>()
  for (const [stream, { entries, events }] of seen) {
    const view = await readStream(base, stream)
    const whole = histories.whole(stream)
    const journal = whole?.journal ?? view?.transactions() ?? []
    const ofStream = register.answers.filter(answer => answer.stream === stream && answer.isNew === true)
    if (view !== undefined && ofStream.length > 0) {
      const rules = stream.startsWith('q-') ? sessionFaults : signalFaults
      const { events, signals } = { ...view.document, ...whole }
      wrong.push(
        ...rules({ journal, events, signals }, ofStream).map(why => ({ kind: 'process' as const, stream, why })),
      )
    }
    journals.set(stream, journal)
    const walk = new JournalWalk(journal)
    const statuses = new Map([...events].map(([id, { status }]) => [id, status]))
    const found = [...walk.faults, ...walk.differences(statuses), ...missing(entries, journal)]
    wrong.push(...found.map(why => ({ kind: 'journal' as const, stream, why })))
    wrong.push(...tooOften(stream, walk, register))
  }
  return [...wrong, ...promises(journals, register), ...clashes(journals, register)]
}

/** A status changes with an entry, a final one only by retry, and attempts never decrease. */
function follow(seen: Map<string, Seen>, wrote: Extract<Happening, { kind: 'wrote' }>): Wrong[] {
  const { stream } = wrote
  const known: Seen = seen.get(stream) ?? { entries: [], events: new Map() }
  seen.set(stream, known)
  const wrong: Wrong[] = []
  for (const event of wrote.events) {
    const before = known.events.get(event.id)
    known.events.set(event.id, event)
    const attempts = [before, event].map(sight => Number(sight?.attempt || 1))
    if (before?.status !== event.status && wrote.entries.length === 0) {
      wrong.push({
        kind: 'history',
        stream,
        why: `${event.id}: ${before?.status} to ${event.status}, not in the journal`,
      })
    }
    if ((attempts[1] ?? 1) < (attempts[0] ?? 1))
      wrong.push({ kind: 'history', stream, why: `${event.id}: attempts went back` })
    const isOpened = before !== undefined && isEnded(before) && !isEnded(event)
    if (isOpened && !wrote.entries.some(({ op }) => op === 'retry')) {
      wrong.push({
        kind: 'unreachable',
        stream,
        why: `${event.id}: ${before.status} to ${event.status} without a retry`,
      })
    }
    if (before?.join === 'wait' && event.join === '' && !isEnded(event)) {
      const open = [...known.events.values()].filter(
        other => other.prev === event.prev && other.id !== event.id && other.join !== 'wait' && !other.superseded,
      )
      // The joins in the same write are checked below.
      const later = new Set(wrote.events.map(({ id }) => id))
      const standing = open.filter(other => !isEnded(other) && !later.has(other.id))
      if (standing.length > 0)
        wrong.push({ kind: 'history', stream, why: `${event.id}: joined before ${standing[0]?.id}` })
    }
  }
  known.entries.push(...wrote.entries)
  return wrong
}

/** Every written entry is in the journal, in order, and no other entry is. */
function missing(entries: readonly EntrySight[], journal: readonly Transaction[]): string[] {
  const lines = (list: readonly { readonly version: number; readonly op: string; readonly commandId: string }[]) =>
    list.map(({ version, op, commandId }) => `${version} ${op} ${commandId}`)
  const [written, stand] = [lines(entries), lines(journal)]
  const at = written.findIndex((line, at) => line !== stand[at])
  if (at >= 0) return [`${written[at]} was written, ${stand[at] ?? 'nothing'} stands there`]
  return written.length < stand.length ? [`${stand[written.length]} was never written`] : []
}

/** Work on an attempt begins once, and again for each release. */
function tooOften(stream: string, walk: JournalWalk, { begun }: Register): Wrong[] {
  return [...begun].flatMap(([key, times]) => {
    const [name, event = '', attempt = ''] = key.split(' ')
    if (name !== stream) return []
    const allowed = 1 + walk.releases(event, Number(attempt))
    return times > allowed ? [{ kind: 'twice' as const, stream, why: `${key} was begun ${times} times` }] : []
  })
}

/** A change reported as written exists once; a refused one does not exist. */
function promises(journals: ReadonlyMap<string, readonly Transaction[]>, { reports, answers }: Register): Wrong[] {
  const wrong: Wrong[] = []
  for (const { stream, event, owner, op, result } of reports) {
    const entry = journals.get(stream)?.find(({ version }) => version === result.version)
    const isThere = entry?.by === owner && entry.on === event && entry.op === op
    if (!isThere) wrong.push({ kind: 'lost', stream, why: `${owner} was told that its ${op} of ${event} is written` })
  }
  for (const { stream, commandId, kind } of answers) {
    const times = journals.get(stream)?.filter(entry => entry.commandId === commandId).length ?? 0
    if (kind === 'refused' && times > 0)
      wrong.push({ kind: 'refused', stream, why: `${commandId} is written all the same` })
    if (kind === 'edited' && times !== 1)
      wrong.push({ kind: 'lost', stream, why: `${commandId} was written, with ${times} entries` })
  }
  return wrong
}

/** A worker that lost an event to an operator or a watchdog learns it by its next heartbeat, or must know before. */
function clashes(journals: ReadonlyMap<string, readonly Transaction[]>, { clashing }: Register): Wrong[] {
  return [...clashing.values()].flatMap(({ stream, event, who, fences: [first = 0, second = 0] }) => {
    const between = journals.get(stream)?.filter(({ version }) => first < version && version < second) ?? []
    const isTaken = between.some(({ changes }) =>
      changes.some(change => change.event === event && change.attr === undefined),
    )
    return isTaken ? [] : [{ kind: 'clash' as const, stream, why: `${event}: ${who.join(' and ')}` }]
  })
}
