import { missingProblem, NO_SUCH_EVENT } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import { type SummarizedStream, summaries, summarizeStored, summaryOf } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { isFailed, isFinal } from '../../stream/event.ts'
import type { Precondition } from '../../stream/operations/apply.ts'
import { readAhead } from '../../util/concurrency.ts'
import { type BatchAction, type Done, type Target, targetsOf } from './action.ts'
import type { SignedOptions, TargetState } from './options.ts'
import type { Resume } from './resume.ts'

/** A stream and what is to be done to it, one after the other. */
export interface BatchJob {
  readonly targets: readonly Target[]
  /** The state that was looked at. */
  readonly pin: Precondition
  readonly etag: string
  readonly version: number | undefined
}

/** A target as the preview shows it. */
export interface PreviewRow {
  readonly target: Target
  readonly item: SummarizedStream
  readonly status: string
  /** How many open events there are below it. */
  readonly openBelow: number
  /** Why it will not be tried. */
  readonly objection: Problem | undefined
}

export interface Settled {
  readonly target: Target
  readonly outcome: Done | Problem
  /** The identity of the stream that is meant: another one that has its name later is not. */
  readonly born: string | undefined
}

export interface BatchPlan {
  /** All that will have an outcome, in the order of the selection. */
  readonly targets: readonly Target[]
  readonly jobs: readonly BatchJob[]
  /** Not to be tried: what becomes of them is known. */
  readonly settled: readonly Settled[]
  /** Names that nothing has, events that a stream does not have. */
  readonly missing: readonly Problem[]
  /** How many streams or events the selection does not mean although they match. */
  readonly leftOut: number
  /** The first of the targets. */
  readonly rows: readonly PreviewRow[]
  /** How many targets will be tried, by their status. */
  readonly byStatus: ReadonlyMap<string, number>
}

export interface PlanRequest {
  readonly action: BatchAction
  readonly options: SignedOptions
  readonly selection: Selection
  /** Events of a stream; none means the stream as a whole. `undefined` where all is about whole streams. */
  readonly eventsOf: ((stream: string) => readonly string[]) | undefined
  /** Streams that are not in the state in which they matter to the action are not meant. */
  readonly leaveOut: boolean
  /** The rest of a former run: what is meant are the streams of that time. */
  readonly resume?: Resume | undefined
  /** How many rows are kept for the preview. */
  readonly keepRows: number
}

/** Looks at all that is selected, before anything is changed. */
export async function makePlan(request: PlanRequest, store: StreamStore, signal: AbortSignal): Promise<BatchPlan> {
  const draft = new PlanDraft(request)
  for await (const { found, missing } of inspect(store, request.selection, request.eventsOf !== undefined, signal)) {
    for (const name of missing) draft.addMissing(name)
    for (const one of found) draft.add(one)
  }
  return draft
}

class PlanDraft implements BatchPlan {
  readonly targets: Target[] = []
  readonly jobs: BatchJob[] = []
  readonly settled: Settled[] = []
  readonly missing: Problem[] = []
  readonly rows: PreviewRow[] = []
  readonly byStatus = new Map<string, number>()
  leftOut = 0
  readonly #request: PlanRequest

  constructor(request: PlanRequest) {
    this.#request = request
  }

  addMissing(stream: string): void {
    const { action, resume } = this.#request
    const gone = resume && action.gone
    const target = { stream, event: undefined }
    if (gone === undefined) this.missing.push(missingProblem(stream))
    else {
      this.targets.push(target)
      this.settled.push({ target, outcome: gone, born: resume?.bornOf(stream) })
    }
  }

  add(one: Inspected): void {
    const { action, options, eventsOf, resume } = this.#request
    const { item } = one
    const stream = item.listed.name
    const wanted = eventsOf?.(stream) ?? []
    const objection = resume?.objection(item) ?? action.objection(item, options)
    const isThere = (event: string) => objection !== undefined || one.view?.stream.find(event) !== undefined
    const events = wanted.filter(isThere)
    for (const event of wanted) if (!isThere(event)) this.missing.push(missingEvent(stream, event))
    // Without events the stream as a whole would be meant.
    if (wanted.length > 0 && events.length === 0) return
    const targets = targetsOf(stream, events).filter(target => this.#isMeant(one, target, objection))
    if (objection === undefined && targets.length > 0) this.jobs.push(jobOf(item, targets))
  }

  #isMeant(one: Inspected, target: Target, objection: Problem | undefined): boolean {
    const { action, leaveOut, keepRows, resume } = this.#request
    const state = stateOf(one, target.event)
    if (objection === undefined && leaveOut && action.leavesOut?.test(state)) {
      this.leftOut += 1
      return false
    }
    this.targets.push(target)
    const { status, openBelow } = state
    if (this.rows.length < keepRows) this.rows.push({ target, item: one.item, status, openBelow, objection })
    if (objection === undefined) this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    else {
      const born = resume?.bornOf(target.stream) ?? one.item.pin.ifBorn
      this.settled.push({ target, outcome: { ...objection, ...eventOf(target) }, born })
    }
    return true
  }
}

function jobOf({ listed, pin, summary }: SummarizedStream, targets: readonly Target[]): BatchJob {
  return { targets, pin, etag: listed.etag, version: summary?.version ?? pin.ifVersion }
}

function eventOf({ event }: Target): { readonly event?: string } {
  return event === undefined ? {} : { event }
}

function missingEvent(stream: string, event: string): Problem {
  return problem('event-not-found', `${stream} has no event ${event}`, { stream, event, hint: NO_SUCH_EVENT })
}

/** What is missing, as the problem of the whole command; `undefined` if nothing is. */
export function missingProblemOf(missing: readonly Problem[], many: boolean, hint: string): Problem | undefined {
  const [first, ...others] = missing
  if (first === undefined || !many) return first
  const facts = others.slice(0, MOST_NAMED).map(({ message }) => ['also', message] as const)
  const more = others.length - facts.length
  return { ...first, facts: more > 0 ? [...facts, ['also', `${more} more`]] : facts, hint }
}

const MOST_NAMED = 20

/** A stream that was looked at. */
interface Inspected {
  readonly item: SummarizedStream
  /** Where its events are asked for and the document can be read. */
  readonly view?: StreamView
}

interface InspectedPage {
  readonly found: readonly Inspected[]
  /** Names that nothing has. */
  readonly missing: readonly string[]
}

/** At most so many streams are read at a time. */
const READS_AT_ONCE = 8

/** The streams of a selection as they stand now; read in full where their events are meant. */
async function* inspect(
  store: StreamStore,
  selection: Selection,
  withEvents: boolean,
  signal: AbortSignal,
): AsyncGenerator<InspectedPage> {
  if (!withEvents) {
    for await (const { found, missing } of selected(store, selection, signal)) {
      yield { found: found.map(item => ({ item })), missing }
    }
    return
  }
  const isFilter = selection.kind === 'filter'
  const names = isFilter ? namesOf(store, selection, signal) : new Set(selection.names)
  yield* readAhead(names, READS_AT_ONCE, async name => {
    const one = await inspectOne(store, name, signal)
    return { found: one === undefined ? [] : [one], missing: one === undefined && !isFilter ? [name] : [] }
  })
}

async function inspectOne(store: StreamStore, name: string, signal: AbortSignal): Promise<Inspected | undefined> {
  try {
    const stored = await store.read(name, signal)
    if (stored === undefined) return undefined
    const nowMs = store.nowMs()
    const item = summarizeStored(stored, nowMs)
    return item.fault === undefined ? { item, view: viewOf(stored, nowMs) } : { item }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const item = await summaryOf(store, { name }, signal)
    return item && { item }
  }
}

async function* namesOf(
  store: StreamStore,
  { filter }: Extract<Selection, { kind: 'filter' }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const page of summaries(store, filter, { signal })) for (const { listed } of page) yield listed.name
}

const UNKNOWN: TargetState = { status: '', isEnded: false, hasFailed: false, openBelow: 0 }

/** How a stream, or an event of it, stands. */
function stateOf({ item, view }: Inspected, event: string | undefined): TargetState {
  if (event !== undefined && view !== undefined) return eventState(view, event)
  const { summary } = item
  if (summary === undefined) return { ...UNKNOWN, status: item.fault?.code ?? 'not started' }
  const { status, open, failed } = summary
  const openBelow = isFinal({ status }) ? open : Math.max(0, open - 1)
  return { status, isEnded: isFinal({ status }) && open === 0, hasFailed: failed > 0, openBelow }
}

function eventState({ stream }: StreamView, id: string): TargetState {
  const at = stream.positionOf(id)
  const event = stream.at(at)
  if (event === undefined) return UNKNOWN
  const below = stream.descendantPositions(at).flatMap(position => stream.at(position) ?? [])
  const openBelow = below.filter(other => !isFinal(other)).length
  return { status: event.status, isEnded: isFinal(event) && openBelow === 0, hasFailed: isFailed(event), openBelow }
}
